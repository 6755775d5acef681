#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/time/clock.hpp"

namespace posthorn {

/// How fast what waits becomes less, by what was seen in the last minute and nothing else.
///
/// Pure: the caller says what time it is, about every second.
/// Threads: one at a time.
class drain_watch {
public:
    void note(steady_time now, std::int64_t waiting);

    /// Operations a second by which it became less; negative if it grew. Empty until there is
    /// enough to tell.
    [[nodiscard]] std::optional<double> drained() const;
    /// Until nothing waits, if it goes on so. Empty unless it becomes less.
    [[nodiscard]] std::optional<std::chrono::seconds> left() const;
    /// More comes than goes.
    [[nodiscard]] bool grows() const { return drained().value_or(0) < 0; }

private:
    struct seen {
        steady_time at;
        std::int64_t waiting = 0;
    };

    std::deque<seen> seen_;
};

}  // namespace posthorn
