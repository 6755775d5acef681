#pragma once

#include <chrono>
#include <functional>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock_watch.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Lets dead messages expire at their time, where a service has asked for that; otherwise they wait
/// for a person.
///
/// Lifetime: `run()` once; what it is given outlives it.
/// Threads:  the dispatcher's strand; it reads on `readers`.
/// Cancel:   `run()` returns after the slice under way.
class dead_expiry {
public:
    explicit dead_expiry(const environment& env, store& where, clock_guard& clocks,
                         std::function<void()> expired)
        : env_(env), where_(where), clocks_(clocks), expired_(std::move(expired)) {}

    task<> run();

private:
    static constexpr std::chrono::milliseconds interval = std::chrono::minutes{1};
    task<result<>> look_at_all(wall_time now);

    const environment& env_;
    store& where_;
    clock_guard& clocks_;            // A clock that has jumped makes everything look old.
    std::function<void()> expired_;  // Some did, and are to be told.
};

}  // namespace posthorn
