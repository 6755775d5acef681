#pragma once

#include <chrono>
#include <cstdint>

#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/time/clock_watch.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn {

struct inbox_purge_options {
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    slice_options slices{};
};

/// Deletes inbox rows past their horizon, while the clock can be believed.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class inbox_purge {
public:
    struct parts {
        store& where;
        const clock& time;
        clock_guard& guard;
        timer& sleeper;
        logger& log;
    };

    inbox_purge(parts with, inbox_purge_options options)
        : purger_(with.where, with.time, with.sleeper, options.slices),
          guard_(with.guard),
          timer_(with.sleeper),
          log_(with.log),
          options_(options) {}

    task<> run();

private:
    purger purger_;
    clock_guard& guard_;
    timer& timer_;
    logger& log_;
    inbox_purge_options options_;
};

}  // namespace posthorn
