#pragma once

#include <cstddef>
#include <optional>

#include <posthorn/detail/sql.hpp>

#include "base/text/joined.hpp"
#include "store/inspection.hpp"

namespace posthorn {

/// What `read_summary` reads, first of a query's columns.
inline constexpr auto summary_columns = joined(R"sql(
    seq, message_id, message_type, destination, endpoint, status, retry_count, max_retries,
    created_at, expires_at, next_retry_at, deliver_at, last_attempt_at, sent_at, last_error,
    resolution, correlation_id, tenant, order_key)sql");
inline constexpr std::size_t summary_columns_count = 19;

[[nodiscard]] message_summary read_summary(const sql_row& row);
/// NULL is none.
[[nodiscard]] std::optional<wall_time> optional_time(const sql_row& row, std::size_t column);

}  // namespace posthorn
