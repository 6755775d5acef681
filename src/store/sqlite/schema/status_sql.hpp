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

/// Whether an earlier message of its order key is in the way of a row: one that is under way, or,
/// unless the policy lets its followers pass, one that was given up. `row` is how the SQL around it
/// names the row.
#define POSTHORN_HAS_EARLIER(row, state)                                                    \
    "EXISTS (SELECT 1 FROM outbox_messages AS earlier WHERE earlier.order_key IS NOT NULL"  \
    " AND earlier.destination = " row ".destination AND earlier.order_key = " row           \
    ".order_key AND coalesce(earlier.tenant, '') = coalesce(" row                           \
    ".tenant, '') AND " POSTHORN_IS_UNDONE("earlier.status") " AND earlier.status = " state \
                                                             " AND earlier.seq < " row ".seq)"
// Asked apart: a key may have very many that were given up, and the policy may make nothing of it.
#define POSTHORN_IS_BLOCKED(row) \
    "(" POSTHORN_HAS_EARLIER(row, "'Pending'") " OR (NOT EXISTS (SELECT 1 FROM posthorn_meta" \
    " WHERE name = 'order_policy' AND value = 'pass') AND ("                                \
    POSTHORN_HAS_EARLIER(row, "'Dead'") " OR " POSTHORN_HAS_EARLIER(row, "'Expired'") ")))"
