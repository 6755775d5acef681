// How a lane shuts and opens: pauses, rests, time and routes.
#include <algorithm>
#include <utility>

#include "base/cancellation.hpp"
#include "outbox/lane.hpp"

namespace posthorn {

// What waits goes back to the table, where it is seen, and expires.
void lane::shut() {
    const auto rows = queue_.take_all();
    let_go(rows);
    with_.claims.let_go(rows);
    store_has_more_ = store_has_more_ || !rows.empty();
    if (const auto then = gate_.changes_at(now())) wake_at(*then);
}

void lane::pause(bool paused) {
    if (gate_.is_paused() == paused) return;
    gate_.pause(paused);
    if (gate_.may_take(now()) != breaker::leave::all) shut();
    store_has_more_ = true;  // As far as we know.
    ask_for_more();
    publish();
}

void lane::routes_changed() {
    options_ = with_limits(with_.options.lane, with_.routes.limits(destination_));
    rate_.change(options_.rate, now());
    size_.change_max(options_.batch_rows);
    gate_.look_for_route();
    // What was put off for want of a route is due again.
    const auto wall = with_.clock.wall();
    std::vector<settlement> due;
    for (const auto seq : std::exchange(held_back_, {}))
        if (held_.add(seq)) due.push_back(recall(seq, wall));
    settle(std::move(due));
    pump();
    ask_for_more();
    publish();
}

void lane::tend() {
    const auto wall = with_.clock.wall();
    const auto late =
        queue_.take_if([wall](const outbox_row& row) { return is_expired(row.body, wall); });
    settle(record_expired(late, recording(), [this](const auto& row) { leave_in_doubt(row); }));
    if (gate_.mode(now()) != lane_mode::no_route) held_back_.clear();
    publish();
}

void lane::wake_at(steady_time when) {
    if (closed_ || (wakes_at_ && *wakes_at_ <= when)) return;
    wakes_at_ = when;
    ++alarms_;
    with_.batches.spawn(wake_after(when));
}

task<> lane::wake_after(steady_time when) {
    if (when > now()) std::ignore = co_await with_.timer.sleep_for(when - now());
    const bool cancelled = co_await is_cancelled();
    --alarms_;
    if (wakes_at_ == when) wakes_at_.reset();
    if (closed_ || cancelled) co_return;
    if (const auto then = gate_.changes_at(now())) wake_at(*then);  // It was put off meanwhile.
    pump();
    ask_for_more();
    publish();
}

void lane::publish() {
    if (abandoned_) return;
    const auto at = now();
    lane_state state{.destination = destination_,
                     .mode = gate_.mode(at),
                     .breaker = gate_.breaker.is(),
                     .queued = queue_.size(),
                     .in_flight = in_flight_,
                     .window = options_.batches_in_flight_max,
                     .batch = size_.rows(),
                     .batch_max = options_.batch_rows,
                     .rate = options_.rate.per_second};
    if (const auto then = gate_.changes_at(at))
        state.until = with_.clock.wall() + std::chrono::ceil<std::chrono::milliseconds>(*then - at);
    with_.counters.board.note(std::move(state));
}

}  // namespace posthorn
