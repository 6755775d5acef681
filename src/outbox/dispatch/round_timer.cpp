#include "outbox/dispatch/round_timer.hpp"

#include <algorithm>
#include <tuple>

#include "base/async/cancellation.hpp"

namespace posthorn {

task<> round_timer::run() {
    // No longer, since the clock may be set meanwhile.
    constexpr std::chrono::nanoseconds wait_max = std::chrono::minutes{1};
    auto from = env_.clock.wall();
    while (!co_await is_cancelled()) {
        const auto due = when_.next(from);
        const auto now = env_.clock.wall();
        if (due && now >= *due) {
            std::ignore = co_await of_.round();
            from = env_.clock.wall();
            continue;
        }
        from = std::min(from, now);  // It was set back.
        const auto wait = due ? std::min<std::chrono::nanoseconds>(*due - now, wait_max) : wait_max;
        std::ignore = co_await env_.timer.sleep_for(wait);
    }
}

}  // namespace posthorn
