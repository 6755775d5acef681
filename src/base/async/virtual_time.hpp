#pragma once

#include <list>
#include <memory>
#include <optional>

#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// Time that passes only when told to: the virtual version of `clock` and `timer`.
///
/// Lifetime: outlives every coroutine that sleeps on it.
/// Threads:  one only.
class virtual_time final : public clock, public timer {
public:
    explicit virtual_time(wall_time start = wall_time{std::chrono::hours{24 * 365 * 56}});

    [[nodiscard]] wall_time wall() const override;
    [[nodiscard]] steady_time steady() const override { return now_; }
    task<result<>> sleep_for(std::chrono::nanoseconds delay) override;

    /// When the next sleeper wakes.
    [[nodiscard]] std::optional<steady_time> next() const;
    /// Moves both clocks on and wakes the sleepers that are due, in the order of their deadlines.
    void advance(std::chrono::nanoseconds by);
    void advance_to(steady_time when);
    /// Moves the wall clock alone, as an administrator or a bad time server does.
    void jump_wall(std::chrono::milliseconds by) { offset_ += by; }

private:
    struct sleeper {
        steady_time due;
        std::shared_ptr<waiter> bed;
    };

    steady_time now_{};
    wall_time start_;
    std::chrono::milliseconds offset_{};
    std::list<sleeper> sleepers_;  // In the order of `due`; equal ones in order of arrival.
};

}  // namespace posthorn
