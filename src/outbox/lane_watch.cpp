// How a lane gives up on batches that take too long.
#include <algorithm>

#include <boost/asio/cancellation_signal.hpp>

#include "outbox/lane.hpp"

namespace posthorn {

void lane::keep_watch() {
    if (watches_) return;
    watches_ = true;
    ++alarms_;
    with_.batches.spawn(watch());
}

// Those that were told and are still there have a transport that heeds nobody.
lane::under_way::iterator lane::next_late() {
    const auto sooner = [](const limited& a, const limited& b) {
        return a.late != b.late ? b.late : a.until < b.until;
    };
    const auto next = std::ranges::min_element(under_way_, sooner);
    return next == under_way_.end() || next->late ? under_way_.end() : next;
}

// Sleeps on while batches come and go: of a thousand that are answered in time none wakes it.
task<> lane::watch() {
    for (auto next = next_late(); next != under_way_.end(); next = next_late()) {
        if (const auto left = next->until - now(); left > left.zero()) {
            if (!co_await with_.timer.sleep_for(left)) break;
        } else {
            next->late = true;
            next->stop->emit(boost::asio::cancellation_type::terminal);
        }
    }
    watches_ = false;
    --alarms_;
}

}  // namespace posthorn
