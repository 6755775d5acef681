#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "message/validate.hpp"

namespace posthorn {

/// Columns of the outbox that may hold any number of bytes, if a program wrote the row with plain SQL.
inline constexpr std::array<std::string_view, 13> sized_columns{
    "payload",        "headers",   "destination", "endpoint",   "content_type",
    "correlation_id", "tenant",    "order_key",   "dedupe_key", "message_id",
    "message_type",   "parent_id", "causation_id"};
/// Their bytes, in that order.
using column_sizes = std::array<std::int64_t, sized_columns.size()>;

/// What all of them have together at most, in a row that keeps the limits.
[[nodiscard]] std::int64_t row_bytes_max(const message_limits& limits) noexcept;

[[nodiscard]] std::size_t sum_of(const column_sizes& sizes) noexcept;

/// Why a row cannot be a message, by its sizes alone: its bytes need not be read to know it. Says
/// what `validate` would. A row with more than `row_bytes_max` fails for certain.
[[nodiscard]] result<> check_sizes(const column_sizes& sizes, const message_limits& limits);

}  // namespace posthorn
