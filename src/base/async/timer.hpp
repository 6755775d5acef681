#pragma once

#include <chrono>

#include "base/async/task.hpp"
#include "base/result.hpp"

namespace posthorn {

/// The one way to wait for time to pass: half of the time seam, whose other half is `clock`.
///
/// Lifetime: outlives every coroutine that sleeps on it.
/// Threads:  any; a sleeper wakes on its own executor.
/// Cancel:   a cancelled sleeper wakes at once with `error_code::cancelled`.
class timer {
public:
    virtual ~timer() = default;

    virtual task<result<>> sleep_for(std::chrono::nanoseconds delay) = 0;
};

class real_timer final : public timer {
public:
    task<result<>> sleep_for(std::chrono::nanoseconds delay) override;
};

}  // namespace posthorn
