#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "base/clock_watch.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"
#include "store/store.hpp"

namespace posthorn {

struct retention_options {
    std::chrono::milliseconds sent = std::chrono::days{7};
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    std::size_t slice_rows = 500;  // In one commit, so that messages need not wait long.
};

/// Deletes sent messages once nobody is likely to ask for them any more.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class outbox_retention {
public:
    outbox_retention(store& where, const clock& time, timer& sleeper, logger& log,
                     retention_options options)
        : store_(where),
          clock_(time),
          clocks_(time),
          timer_(sleeper),
          log_(log),
          options_(options) {}

    task<> run();

private:
    task<result<>> purge();

    store& store_;
    const clock& clock_;
    clock_guard clocks_;  // A clock that has jumped makes everything look old.
    timer& timer_;
    logger& log_;
    retention_options options_;
};

}  // namespace posthorn
