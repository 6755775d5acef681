#pragma once

#include <chrono>
#include <cstdint>

#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock_watch.hpp"
#include "inbox/horizon.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn {

struct inbox_purge_options {
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    slice_options slices{};
    horizon_options horizon{};
};

/// Deletes inbox rows past their horizon, while the clock can be believed, and gives one to those
/// that would be kept for ever.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class inbox_purge {
public:
    inbox_purge(const environment& env, store& where, clock_guard& guard,
                inbox_purge_options options)
        : env_(env),
          purger_(where, env.clock, env.timer, options.slices),
          guard_(guard),
          options_(options) {}

    task<> run();

private:
    const environment& env_;
    purger purger_;
    clock_guard& guard_;
    inbox_purge_options options_;
};

}  // namespace posthorn
