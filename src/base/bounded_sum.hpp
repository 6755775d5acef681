#pragma once

#include <cstdint>
#include <limits>

namespace posthorn {

/// The sum of two numbers that others may have written; past an end of what a number holds, that end.
[[nodiscard]] constexpr std::int64_t bounded_sum(std::int64_t one, std::int64_t other) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(one, other, &sum)) return sum;
    using limits = std::numeric_limits<std::int64_t>;
    return one < 0 ? limits::min() : limits::max();
}

/// The same of their difference.
[[nodiscard]] constexpr std::int64_t bounded_difference(std::int64_t one,
                                                        std::int64_t other) noexcept {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(one, other, &difference)) return difference;
    using limits = std::numeric_limits<std::int64_t>;
    return one < 0 ? limits::min() : limits::max();
}

}  // namespace posthorn
