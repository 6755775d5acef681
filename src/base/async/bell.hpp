#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"

namespace posthorn {

/// Tells one coroutine that there is something to do. Rung while none waits, or rung often, it
/// counts once.
///
/// Lifetime: outlives those who wait and ring.
/// Threads:  `ring` from any; one coroutine waits at a time.
/// Cancel:   a cancelled wait gives false; the ring is kept for the next wait.
class bell {
public:
    void ring();
    /// True once rung, false when cancelled.
    task<bool> wait();
    /// True if rung within `limit`; false when the time is over or the wait was cancelled.
    task<bool> wait_for(timer& time, std::chrono::nanoseconds limit);

private:
    std::shared_ptr<waiter> listen();
    bool take();

    std::mutex mutex_;
    bool rung_ = false;
    std::shared_ptr<waiter> waiting_;
};

}  // namespace posthorn
