#pragma once

#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rows/dead_rows.hpp"

namespace posthorn::postgres {

/// What `read_dead_row` reads: all of a message, in whichever state. `m` is the row's name.
inline constexpr auto dead_row_columns =
    joined(summary_columns, ", ", payload_unless_longer(content_bytes_shown_max), ", ",
           headers_unless_longer(content_bytes_shown_max), R"sql(, substr(content_type, 1, 4096),
    (SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT k.cause FROM {s}.outbox_closed AS c JOIN {s}.outbox_causes AS k USING (cause_id)
     WHERE c.seq = m.seq))sql");

/// What `fits` reads, and no more: a search looks at many rows.
inline constexpr auto dead_key_columns = joined(R"sql(
    m.seq, m.destination, substr(m.endpoint, 1, 4096), m.tenant, m.order_key,
    substr(m.last_error, 1, 4096), m.expires_at,
    coalesce((SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
        m.last_attempt_at, m.created_at),
    m.status,
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    substr(m.correlation_id, 1, 65536), substr(m.causation_id, 1, 64),
    substr(m.resolution, 1, 64))sql");

}  // namespace posthorn::postgres
