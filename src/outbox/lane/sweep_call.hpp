#pragma once

#include <atomic>

#include "base/async/bell.hpp"

namespace posthorn {

/// How others speak to the sweep while it sleeps.
///
/// Lifetime: outlives the sweep.
/// Threads:  any.
class sweep_call {
public:
    /// There is something to find now.
    void want() {
        wanted_ = true;
        rung_.ring();
    }
    /// Something falls due sooner than it knew when it went to sleep.
    void look_at_agenda() { rung_.ring(); }

    /// For the sweep itself.
    task<> sleep(timer& time, std::chrono::nanoseconds limit) {
        co_await rung_.wait_for(time, limit);
    }
    [[nodiscard]] bool take_wanted() { return wanted_.exchange(false); }

private:
    std::atomic<bool> wanted_ = false;
    bell rung_;
};

}  // namespace posthorn
