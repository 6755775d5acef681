#pragma once

#include <cstddef>
#include <optional>

#include <posthorn/detail/sql.hpp>

#include "base/text/joined.hpp"
#include "store/inspection.hpp"

namespace posthorn {

/// What `read_summary` reads, first of a query's columns. No column is longer than a configuration
/// can allow: a list has many rows, and a program that writes them with plain SQL sets no limit.
inline constexpr auto summary_columns = joined(R"sql(
    seq, substr(message_id, 1, 4096), substr(message_type, 1, 64), substr(destination, 1, 4096),
    substr(endpoint, 1, 4096), status, retry_count, max_retries, created_at, expires_at,
    next_retry_at, deliver_at, last_attempt_at, sent_at, substr(last_error, 1, 4096),
    substr(resolution, 1, 4096), substr(correlation_id, 1, 65536), substr(tenant, 1, 65536),
    substr(order_key, 1, 65536), substr(causation_id, 1, 64))sql");
/// Content up to this is read in whole; of what has more its size is told.
inline constexpr auto content_bytes_shown_max = joined("67108864");
inline constexpr std::size_t summary_columns_count = 20;

[[nodiscard]] message_summary read_summary(const sql_row& row);
/// NULL is none.
[[nodiscard]] std::optional<wall_time> optional_time(const sql_row& row, std::size_t column);

}  // namespace posthorn
