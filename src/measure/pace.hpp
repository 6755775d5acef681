#pragma once

#include <cstdint>

namespace posthorn::measure {

/// Nanoseconds of the machine's monotonic clock, which is one and the same in all processes.
[[nodiscard]] std::int64_t now_ns() noexcept;

/// Nanoseconds that the calling thread has worked: others who use the machine are not in it.
[[nodiscard]] std::int64_t worked_ns() noexcept;

/// Returns at that time, or at once if it has passed. As exact as the kernel can: the slack that it
/// gives to sleeping threads by default would be part of every latency.
void sleep_until(std::int64_t at_ns) noexcept;

}  // namespace posthorn::measure
