#include "outbox/lane/backlog.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/planted.hpp"

namespace posthorn {
namespace {

constexpr std::size_t newer_rows_max = 200;  // Of one read that is for them.

}  // namespace

void backlog::note(replay_event what, steady_time now) {
    const auto before = is_.phase;
    is_ = step(is_, what, now, how_);
    if (is_.phase == replay_phase::outage && before != is_.phase) {
        mark_.reset();
        exhausted_ = false;
    }
    look_for_the_end(now);
}

void backlog::look_for_the_end(steady_time now) {
    if (exhausted_ && queue_.empty() && in_flight_ == 0)
        is_ = step(is_, replay_event::drained, now, how_);
}

bool backlog::wants(std::int64_t seq) {
    saw(seq);
    const bool old = is_old(seq);
    if (old) ++found_;
    return !old || reads_ == reading::old || how_.newest_first;
}

void backlog::push(outbox_row row) {
    bytes_ += bytes_of(row);
    queue_.push(std::move(row));
}

outbox_row backlog::pop() {
    auto row = queue_.pop();
    bytes_ -= bytes_of(row);
    return row;
}

std::vector<outbox_row> backlog::take_if(const std::function<bool(const outbox_row&)>& is_over) {
    auto taken = queue_.take_if(is_over);
    for (const auto& row : taken) bytes_ -= bytes_of(row);
    return taken;
}

// One at a time until it has answered for a while.
std::size_t backlog::in_flight_max(const around& lane) const {
    if (is_.phase != replay_phase::replaying) return 1;
    return std::max<std::size_t>(lane.window - 1, 1);
}

bool backlog::is_its_turn(const around& lane) const {
    if (queue_.empty() || in_flight_ >= in_flight_max(lane)) return false;
    return lane.newer == 0 || !went_last_;
}

// A little may be saved up, for a timer that is late; 4 % of a second's are within what is allowed.
void backlog::set_pace(steady_time now) {
    const double rate = replay_rate(is_, now, how_);
    pace_.change({.per_second = rate, .burst = std::max(2.0, rate * 0.04)}, now);
}

std::size_t backlog::allows(std::size_t wanted, const around& lane, steady_time now) {
    if (queue_.empty()) return 0;
    if (lane.probes) return lane.newer == 0 ? 1 : 0;
    if (!is_its_turn(lane)) return 0;
    set_pace(now);
    const auto most = std::min(wanted, queue_.size());
    return POSTHORN_PLANTED(replay_rate_ignored) ? most : pace_.allows(most, now);
}

std::optional<steady_time> backlog::ready_at(std::size_t window, steady_time now) {
    if (!is_its_turn({.newer = 0, .window = window})) return std::nullopt;
    return pace_.ready_at(1, now);
}

void backlog::went(bool old, std::size_t rows, steady_time now) {
    went_last_ = old;
    if (!old) return;
    ++in_flight_;
    pace_.take(rows, now);
}

void backlog::came_back(steady_time now) {
    POSTHORN_ASSERT(in_flight_ > 0);
    --in_flight_;
    look_for_the_end(now);
}

std::size_t backlog::begin_read(std::size_t room) {
    if (is_.phase == replay_phase::outage) {
        reads_ = reading::old;
    } else if (!mark_) {
        reads_ = reading::mark;
    } else {
        reads_ = is_low() && reads_ != reading::old ? reading::old : reading::newer;
    }
    found_ = 0;
    const auto most =
        reads_ == reading::old ? rows_max_ - std::min(queue_.size(), rows_max_) : newer_rows_max;
    return std::min(room, most);
}

bool backlog::reads_newest() const { return reads_ != reading::old || how_.newest_first; }

bool backlog::end_read(bool more, steady_time now) {
    const auto was = reads_;
    if (was == reading::mark) mark_ = highest_;
    // The oldest come first, so if none of them is old, none is left.
    if (was == reading::old && is_.phase != replay_phase::outage)
        exhausted_ = !more || (found_ == 0 && !how_.newest_first);
    look_for_the_end(now);
    return was != reading::old && is_low() && !exhausted_ && !is_over();
}

}  // namespace posthorn
