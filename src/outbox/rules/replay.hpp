#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/time/clock.hpp"

namespace posthorn {

/// How a lane works off what has waited while its destination was out.
struct replay_options {
    std::chrono::milliseconds settle_time =
        std::chrono::seconds{5};  // It answers for so long first.
    double rate = 0;  // Messages of the backlog a second; zero: as fast as they are taken.
    std::chrono::milliseconds ramp = std::chrono::seconds{60};  // From a tenth of the rate to all.
    bool newest_first = false;

    bool operator==(const replay_options&) const = default;
};

enum class replay_phase : std::uint8_t { live, outage, settling, replaying };
[[nodiscard]] std::string_view to_string(replay_phase phase) noexcept;

enum class replay_event : std::uint8_t {
    time_passed,
    opened,    // The breaker: it does not answer any more.
    answered,  // A batch, and well.
    strained,  // Silence, or it asks for patience.
    drained,   // Nothing of the backlog is left.
};

/// Where a lane stands.
struct replay_state {
    replay_phase phase = replay_phase::live;
    steady_time since{};       // Of the phase, or of its settling anew.
    double rate_from = 0;      // The rate at `rises_from`,
    steady_time rises_from{};  // from where on it rises.

    bool operator==(const replay_state&) const = default;
};

/// What follows from an event. The first line that fits counts.
///
/// | phase     | what happens                          | becomes                            |
/// |-----------|---------------------------------------|------------------------------------|
/// | settling  | `settle_time` has passed              | replaying; then as below           |
/// | any       | opened                                | outage                             |
/// | outage    | answered                              | settling                           |
/// | settling  | strained                              | settling, from the beginning       |
/// | replaying | strained                              | replaying, at half the rate        |
/// | replaying | drained                               | live                               |
/// | any       | anything else                         | as it is                           |
///
/// So one that comes and goes is never flooded: each time it has to answer for a while.
///
/// Pure: the caller says what time it is.
[[nodiscard]] replay_state step(replay_state is, replay_event what, steady_time now,
                                const replay_options& how);

/// How many messages of the backlog may go in a second now: a tenth of the rate at first, and never
/// less; zero is no limit. Pure.
[[nodiscard]] double replay_rate(const replay_state& is, steady_time now,
                                 const replay_options& how);

}  // namespace posthorn
