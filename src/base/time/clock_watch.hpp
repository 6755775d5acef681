#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "base/time/clock.hpp"

namespace posthorn {

struct clock_watch_options {
    std::chrono::milliseconds jump_min = std::chrono::seconds{5};  // Less is drift.
    std::chrono::milliseconds hold = std::chrono::hours{1};        // How long to distrust a jump.
};

/// Tells whether the wall clock can be believed, by the steady clock's measure of its progress.
///
/// Code that deletes by age asks first: a wall clock that is wrong by years makes everything look
/// old. A machine that was suspended looks as if its wall clock had jumped, which costs nothing but
/// a delay.
///
/// Pure: the caller says what the clocks show. Looks come in the order of time.
/// Threads: one at a time.
class clock_watch {
public:
    explicit clock_watch(clock_watch_options options = {}) : options_(options) {}

    void look(wall_time wall, steady_time steady);

    /// Both clocks were seen to agree for the whole of the last `hold`. Not so at first: the wall
    /// clock of a machine that just came up may be about to be set.
    [[nodiscard]] bool settled() const;
    /// A jump was seen within the last `hold`.
    [[nodiscard]] bool jumped() const;

private:
    struct sight {
        wall_time wall;
        steady_time steady;
    };

    clock_watch_options options_;
    std::optional<sight> last_;
    steady_time agreed_since_{};
    bool seen_jump_ = false;
};

/// Whether a clock that shows `now` is behind what was done at `newest` by another clock, or by
/// itself before it was set back. Clocks of one cluster differ by less.
[[nodiscard]] constexpr bool lags_behind(wall_time now, wall_time newest) noexcept {
    constexpr std::chrono::minutes tolerance{5};
    return newest > now + tolerance;
}

/// A `clock_watch` over a clock, shared by those who ask it.
///
/// Lifetime: the clock outlives it.
/// Threads:  any. It has to be asked regularly, or slow drift adds up to a jump.
class clock_guard {
public:
    explicit clock_guard(const clock& time, clock_watch_options options = {})
        : time_(time), watch_(options) {}

    /// What the wall clock shows, if it can be believed; see `clock_watch::settled`.
    [[nodiscard]] std::optional<wall_time> settled_wall();
    [[nodiscard]] bool jumped();

private:
    wall_time look();

    const clock& time_;
    std::mutex mutex_;
    clock_watch watch_;  // Under the mutex.
};

}  // namespace posthorn
