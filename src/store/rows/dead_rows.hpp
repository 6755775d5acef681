#pragma once

#include <optional>
#include <string_view>

#include "store/dead_letters.hpp"
#include "store/rows/summary_rows.hpp"

namespace posthorn {

// `summary_columns`, payload, headers, content type, when and of what it was closed, in words.
inline constexpr std::size_t payload_column = summary_columns_count;

[[nodiscard]] dead_letter_row read_dead_row(const sql_row& row);

// Seq, destination, endpoint, tenant, order key, last error, expiry, when it was closed, status,
// cause, correlation id, causation id, resolution: what `fits` and a change of many read, and no
// more, since a search looks at many rows.
inline constexpr std::size_t order_key_column = 4;
inline constexpr std::size_t last_error_column = 5;
inline constexpr std::size_t expires_at_column = 6;
inline constexpr std::size_t status_column = 8;
inline constexpr std::size_t resolution_column = 12;

[[nodiscard]] bool fits(const sql_row& keys, const dead_filter& wanted);

}  // namespace posthorn
