#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock.hpp"
#include "base/time/clock_watch.hpp"
#include "outbox/upkeep/vacuum.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn {

struct retention_options {
    using time_kept = std::optional<std::chrono::milliseconds>;  // None: for ever.

    time_kept sent = std::chrono::days{7};
    /// What was sent is kept for as long, whatever `sent` says: others may refer to it. Asked
    /// before each purge; none where it is empty.
    std::function<std::chrono::milliseconds()> sent_at_least{};
    time_kept dead{};  // An operator is to look at them.
    time_kept expired = std::chrono::days{30};
    time_kept resolved = std::chrono::days{7};
    time_kept changes = std::chrono::days{7};
    vacuum_mode vacuum = vacuum_mode::incremental;
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    slice_options slices{};
    clock_watch_options clock{};  // When to believe that a row is old.
};

/// Deletes messages that are done with, and the log of changes, once they are not likely to be
/// asked for any more; then gives the room back to the disk.
///
/// Lifetime: `run()` once at a time, destroyed after it returned; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class outbox_retention final : public node_service {
public:
    outbox_retention(const environment& env, store& where, retention_options options)
        : env_(env),
          purger_(where, env.clock, env.timer, options.slices),
          clocks_(env.clock, options.clock),
          options_(options) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "retention"; }
    task<> run() override;

private:
    task<> purge();

    const environment& env_;
    purger purger_;
    clock_guard clocks_;  // A clock that has jumped makes everything look old.
    retention_options options_;
};

}  // namespace posthorn
