#pragma once

#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rows/dead_rows.hpp"

namespace posthorn::postgres {

/// What `read_dead_row` reads: all of a message, in whichever state. `m` is the row's name.
inline constexpr auto dead_row_columns = joined(summary_columns, ", ", payload_as_bytes, R"sql(,
    headers, content_type,
    (SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT k.cause FROM {s}.outbox_closed AS c JOIN {s}.outbox_causes AS k USING (cause_id)
     WHERE c.seq = m.seq))sql");

/// What `fits` reads, and no more: a search looks at many rows.
inline constexpr auto dead_key_columns = joined(R"sql(
    m.seq, m.destination, m.endpoint, m.tenant, m.order_key, m.last_error, m.expires_at,
    coalesce((SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
        m.last_attempt_at, m.created_at),
    m.status,
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq))sql");

}  // namespace posthorn::postgres
