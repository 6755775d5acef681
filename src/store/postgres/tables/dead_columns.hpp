#pragma once

#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {

/// What `read_dead_row` reads: all of a message, in whichever state. `m` is the row's name.
#define POSTHORN_PG_DEAD_ROW                                                         \
    POSTHORN_SUMMARY_COLUMNS                                                         \
    ", " POSTHORN_PG_PAYLOAD                                                         \
    ", headers, content_type,"                                                       \
    " (SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),"                \
    " (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),"          \
    " (SELECT k.cause FROM {s}.outbox_closed AS c JOIN {s}.outbox_causes AS k USING" \
    " (cause_id) WHERE c.seq = m.seq)"

/// What `fits` reads, and no more: a search looks at many rows.
#define POSTHORN_PG_DEAD_KEYS                                                              \
    "m.seq, m.destination, m.endpoint, m.tenant, m.order_key, m.last_error, m.expires_at," \
    " coalesce((SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),"             \
    " m.last_attempt_at, m.created_at), m.status,"                                         \
    " (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq)"

}  // namespace posthorn::postgres
