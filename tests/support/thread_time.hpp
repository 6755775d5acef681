#pragma once

#include <chrono>

namespace posthorn::test {

/// The processor time that the calling thread has had; unlike a clock it stands still while others
/// have the processor.
[[nodiscard]] std::chrono::nanoseconds thread_time();

}  // namespace posthorn::test
