#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// Milliseconds since 1970, as stored.
[[nodiscard]] inline std::int64_t to_ms(wall_time time) noexcept {
    return time.time_since_epoch().count();
}
[[nodiscard]] inline wall_time from_ms(std::int64_t ms) noexcept {
    return wall_time{std::chrono::milliseconds{ms}};
}

/// The same of a row that anyone may have written: within the years 1 to 9999, so that spans can be
/// added to it and taken from it.
[[nodiscard]] inline wall_time bounded_from_ms(std::int64_t ms) noexcept {
    constexpr std::int64_t year_1 = -62'135'596'800'000, year_9999 = 253'402'300'799'999;
    return from_ms(std::clamp(ms, year_1, year_9999));
}

}  // namespace posthorn
