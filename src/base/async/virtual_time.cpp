#include "base/async/virtual_time.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"

namespace posthorn {

virtual_time::virtual_time(wall_time start) : start_(start) {}

wall_time virtual_time::wall() const {
    return start_ + offset_ +
           std::chrono::floor<std::chrono::milliseconds>(now_.time_since_epoch());
}

task<result<>> virtual_time::sleep_for(std::chrono::nanoseconds delay) {
    const auto bed = waiter::make();
    if (delay <= std::chrono::nanoseconds::zero()) {
        bed->wake();  // Still yields to those that are ready.
    } else {
        const auto due = now_ + delay;
        sleepers_.insert(std::ranges::upper_bound(sleepers_, due, {}, &sleeper::due), {due, bed});
    }
    if (co_await bed->wait()) co_return result<>{};
    std::erase_if(sleepers_, [&](const sleeper& one) { return one.bed == bed; });
    co_return cancelled();
}

std::optional<steady_time> virtual_time::next() const {
    if (sleepers_.empty()) return std::nullopt;
    return sleepers_.front().due;
}

void virtual_time::advance(std::chrono::nanoseconds by) { advance_to(now_ + by); }

void virtual_time::advance_to(steady_time when) {
    POSTHORN_ASSERT(when >= now_);
    now_ = when;
    while (!sleepers_.empty() && sleepers_.front().due <= now_) {
        sleepers_.front().bed->wake();
        sleepers_.pop_front();
    }
}

}  // namespace posthorn
