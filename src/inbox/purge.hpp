#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock_watch.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"
#include "store/store.hpp"

namespace posthorn {

struct inbox_purge_options {
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    std::size_t slice = 500;  // Rows in one commit, so that messages need not wait long.
};

/// Deletes inbox rows past their horizon, while the clock can be believed.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class inbox_purge {
public:
    inbox_purge(store& where, clock_guard& guard, timer& time, logger& log,
                inbox_purge_options options)
        : store_(where), guard_(guard), timer_(time), log_(log), options_(options) {}

    task<> run();

private:
    task<result<std::int64_t>> sweep(wall_time now);

    store& store_;
    clock_guard& guard_;
    timer& timer_;
    logger& log_;
    inbox_purge_options options_;
};

}  // namespace posthorn
