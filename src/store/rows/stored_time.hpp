#pragma once

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

}  // namespace posthorn
