#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/async/task.hpp"

namespace posthorn {

/// One coroutine waits until it is woken: what channels and groups are made of.
///
/// (The channels of Boost 1.81 lose their capacity when a receiver is cancelled and drop what they
/// hold when closed, so ours are built on this: docs/adr/0003-own-channel.md.)
///
/// Lifetime: shared by the one who waits and the one who wakes.
/// Threads:  `wake` from any; `wait` once, resumed on the waiter's own executor.
/// Cancel:   a cancelled `wait` gives false.
class waiter : public std::enable_shared_from_this<waiter> {
public:
    [[nodiscard]] static std::shared_ptr<waiter> make() {
        return std::shared_ptr<waiter>(new waiter);
    }

    /// True once woken, also if that came first; false when cancelled.
    task<bool> wait();
    /// Heeds no cancellation: for what must not be left half-way, such as a commit.
    task<> wait_regardless();
    /// False if the waiter was cancelled or woken before: then wake another one.
    bool wake() { return finish(state::woken); }

private:
    enum class state : unsigned char { idle, woken, cancelled };

    waiter() = default;
    task<bool> park(bool cancellable);
    bool finish(state to);

    std::mutex mutex_;
    state state_ = state::idle;
    std::move_only_function<void(bool)> resume_;
};

}  // namespace posthorn
