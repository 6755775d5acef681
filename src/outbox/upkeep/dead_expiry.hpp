#pragma once

#include <chrono>
#include <functional>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
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
    struct services {
        store& where;
        executor& readers;
        clock_guard& clocks;  // A clock that has jumped makes everything look old.
        class timer& timer;
        logger& log;
        std::function<void()> expired;  // Some did, and are to be told.
    };

    explicit dead_expiry(services with) : with_(std::move(with)) {}

    task<> run();

private:
    static constexpr std::chrono::milliseconds interval = std::chrono::minutes{1};
    task<result<>> look_at_all(wall_time now);

    services with_;
};

}  // namespace posthorn
