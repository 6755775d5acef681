#include "outbox/lane/attempt_limits.hpp"

#include <algorithm>

namespace posthorn {

attempt_limits::place attempt_limits::add(steady_time until) {
    const auto one = under_way_.insert(under_way_.end(), {.until = until});
    if (!watches_) {
        watches_ = true;
        batches_.spawn(watch());
    }
    return one;
}

// Those that were told and are still there have a transport that heeds no stop.
attempt_limits::place attempt_limits::next_late() {
    const auto sooner = [](const limited& a, const limited& b) {
        return a.late != b.late ? b.late : a.until < b.until;
    };
    const auto next = std::ranges::min_element(under_way_, sooner);
    return next == under_way_.end() || next->late ? under_way_.end() : next;
}

// Sleeps on while batches come and go: of a thousand that are answered in time none wakes it.
task<> attempt_limits::watch() {
    for (auto next = next_late(); next != under_way_.end(); next = next_late()) {
        if (const auto left = next->until - env_.clock.steady(); left > left.zero()) {
            if (!co_await env_.timer.sleep_for(left)) break;
        } else {
            next->late = true;
            next->stop->emit(boost::asio::cancellation_type::terminal);
        }
    }
    watches_ = false;
}

}  // namespace posthorn
