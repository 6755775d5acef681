#pragma once

#include <mutex>
#include <string_view>
#include <utility>

#include "base/async/bell.hpp"
#include "outbox/rules/agenda.hpp"

namespace posthorn {

/// How others speak to the sweep while it sleeps.
///
/// Lifetime: outlives the sweep.
/// Threads:  any.
class sweep_call {
public:
    /// There is something to find now, who knows where.
    void want() {
        {
            const std::lock_guard held(mutex_);
            wanted_.everywhere = true;
        }
        rung_.ring();
    }
    /// There is something to find for one destination.
    void want(std::string_view destination) {
        {
            const std::lock_guard held(mutex_);
            wanted_.destinations.emplace(destination);
        }
        rung_.ring();
    }
    /// Something falls due sooner than it knew when it went to sleep.
    void look_at_agenda() { rung_.ring(); }

    /// For the sweep itself.
    task<> sleep(timer& time, std::chrono::nanoseconds limit) {
        co_await rung_.wait_for(time, limit);
    }
    [[nodiscard]] sweep_scope take_wanted() {
        const std::lock_guard held(mutex_);
        return std::exchange(wanted_, {});
    }

private:
    std::mutex mutex_;
    sweep_scope wanted_;
    bell rung_;
};

}  // namespace posthorn
