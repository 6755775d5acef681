#pragma once

// Groups of states in SQL, the same wherever they are asked for: a partial index serves a statement
// only if its condition stands in it.
//
// Said without IN: of a list of more than two SQLite makes a table in memory, and in triggers,
// CHECKs and conditions of indexes it does so anew for each row. That was most of what it cost to
// settle a message.

/// Dead, Expired or Resolved: no message that is to be sent, or was.
#define POSTHORN_IS_CLOSED(status) "(" status " <> 'Pending' AND " status " <> 'Sent')"

/// Pending, Dead or Expired: followers of its order key may have to wait for it.
#define POSTHORN_IS_UNDONE(status) "(" status " <> 'Sent' AND " status " <> 'Resolved')"
