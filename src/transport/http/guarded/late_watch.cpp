#include "transport/http/guarded/late_watch.hpp"

#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"

namespace posthorn {

late_watch::~late_watch() { POSTHORN_ASSERT(all_.empty() && !runs_); }

late_watch::watched::watched(late_watch& by, steady_time until, std::function<void()> end)
    : by_(by), place_(by.all_.emplace(until, entry{std::move(end), &late_})) {
    if (!std::exchange(by.runs_, true))
        by.tasks_.spawn(by.run(), by.running_);
    else if (until < by.wakes_at_)
        by.sooner_.ring();
}

late_watch::watched::~watched() {
    if (!late_) by_.all_.erase(place_);
}

void late_watch::stop() {
    if (runs_ && running_ != nullptr) running_->emit(boost::asio::cancellation_type::all);
}

// Runs while there is something to watch, and until it would have been late.
task<> late_watch::run() {
    while (!all_.empty() && !co_await is_cancelled()) {
        const auto now = now_.steady();
        while (!all_.empty() && all_.begin()->first <= now) {
            const auto due = all_.extract(all_.begin());
            *due.mapped().late = true;
            due.mapped().end();
        }
        if (all_.empty()) break;
        wakes_at_ = all_.begin()->first;
        co_await sooner_.wait_for(time_, wakes_at_ - now);
        wakes_at_ = steady_time::max();
    }
    runs_ = false;
    running_ = nullptr;
}

}  // namespace posthorn
