#include "outbox/lane/settler.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "store/settle_rider.hpp"

namespace posthorn {
namespace {

bool is_end(const settlement& one) {
    return one.to == outbox_status::dead || one.to == outbox_status::expired;
}

bool is_urgent(const settlement& one) {
    return (one.followers_wait && one.to != outbox_status::pending) ||
           (one.rider && one.rider->is_awaited());
}

result<> settle_with_riders(store_transaction& tx, std::span<const settlement> outcomes,
                            std::int64_t epoch) {
    for (const auto& one : outcomes)
        if (one.rider) POSTHORN_TRY(one.rider->ride(tx, one));
    POSTHORN_TRY(tx.outbox().settle(outcomes, epoch));
    return {};
}

std::size_t bytes_of(std::span<const settlement> outcomes) {
    std::size_t bytes = 0;
    for (const auto& one : outcomes) bytes += one.bytes;
    return bytes;
}

// Whether it may be a row's own doing, and not the state of the database as a whole.
bool may_concern_one_row(const error& why) {
    return why.code() == error_code::statement_failed ||
           why.code() == error_code::statement_interrupted ||
           why.code() == error_code::statement_forbidden;
}

}  // namespace

settler::settler(const environment& env, store& where, settle_board& board, settler_options options,
                 std::int64_t epoch, std::function<void()> lost, std::function<void()> ended)
    : env_(env),
      where_(where),
      board_(board),
      options_(options),
      epoch_(epoch),
      lost_(std::move(lost)),
      ended_(std::move(ended)),
      retry_delay_(options.retry_delay_min) {}

settler::~settler() { forget_failures(); }

void settler::add(settle_listener& listener, std::vector<settlement> outcomes) {
    if (is_cut_off_ || outcomes.empty()) return;
    outcomes_waiting_ += outcomes.size();
    // Cut up, so that none comes to the time limit of a unit, over and over.
    for (auto count = last_unit(outcomes); count < outcomes.size(); count = last_unit(outcomes)) {
        const auto cut = outcomes.end() - static_cast<std::ptrdiff_t>(count);
        submit_all(listener, {std::move_iterator(cut), std::move_iterator(outcomes.end())});
        outcomes.erase(cut, outcomes.end());
    }
    submit_all(listener, std::move(outcomes));
}

std::size_t settler::last_unit(std::span<const settlement> of) const {
    std::size_t count = 0, bytes = 0;
    while (count < std::min(of.size(), options_.outcomes_in_unit_max)) {
        bytes += of[of.size() - 1 - count].bytes;
        if (count > 0 && bytes > options_.bytes_at_writer_max) break;
        ++count;
    }
    return count;
}

void settler::submit_all(settle_listener& listener, std::vector<settlement> outcomes) {
    const auto bytes = bytes_of(outcomes);
    if (join(listener, outcomes, bytes)) return;
    submit_when_there_is_room({.unit = std::make_shared<settle_unit>(listener, std::move(outcomes)),
                               .since = env_.clock.steady(),
                               .bytes = bytes});
}

// Those before it wait for a commit, as it would.
bool settler::join(settle_listener& listener, std::vector<settlement>& outcomes,
                   std::size_t bytes) {
    const auto known = submitted_.find(joinable_);
    if (known == submitted_.end() || std::ranges::any_of(outcomes, is_urgent)) return false;
    auto& with = known->second;
    if (bytes_submitted_ + bytes > options_.bytes_at_writer_max) return false;
    const auto count = outcomes.size();
    if (!with.unit->join(listener, outcomes, options_.outcomes_in_unit_max)) return false;
    with.bytes += bytes;
    bytes_submitted_ += bytes;
    if (with.forced) return true;
    with.unforced += count;
    outcomes_unforced_ += count;
    if (outcomes_unforced_ >= options_.outcomes_waiting_max) force();
    return true;
}

void settler::submit_again(std::shared_ptr<settle_unit> unit) {
    const auto bytes = bytes_of(unit->outcomes());
    submit_when_there_is_room(
        {.unit = std::move(unit), .since = env_.clock.steady(), .bytes = bytes});
}

// One that is larger than all of it goes when half is free: to wait for an idle writer could be for
// ever.
bool settler::has_room_for(const batch& one) const {
    const auto most = options_.bytes_at_writer_max;
    return bytes_submitted_ + std::min(one.bytes, most / 2) <= most;
}

// Small ones do not wait behind large ones: outcomes of different messages know no order.
void settler::submit_when_there_is_room(batch what) {
    const bool is_small = what.bytes * 16 <= options_.bytes_at_writer_max;
    if ((waiting_.empty() || is_small) && has_room_for(what)) return submit(std::move(what));
    if (waiting_.empty()) force();  // What is in the way shall not wait for others to join.
    waiting_.push_back(std::move(what));
}

void settler::submit(batch what) {
    const auto number = ++submissions_;
    bytes_submitted_ += what.bytes;
    const auto outcomes = what.unit->outcomes();  // The writer does not know it yet.
    what.forced = std::ranges::any_of(outcomes, is_urgent);
    const bool lazy = !what.forced;
    if (lazy) {
        what.unforced = outcomes.size();
        outcomes_unforced_ += what.unforced;
        unforced_.emplace(number, what.since);
        joinable_ = number;
    }
    const auto [place, added] = submitted_.emplace(number, std::move(what));
    if (!alarm_at_) answers_->arrived.ring();  // So that `run` sets its alarm.
    where_.submit({.work =
                       [unit = place->second.unit, epoch = epoch_](store_transaction& tx) {
                           return settle_with_riders(tx, unit->begin(), epoch);
                       },
                   .done =
                       [to = answers_, number](result<> answer) {
                           {
                               const std::scoped_lock lock(to->mutex);
                               to->list.emplace_back(number, std::move(answer));
                           }
                           to->arrived.ring();
                       },
                   .lazy = lazy});
    if (outcomes_unforced_ >= options_.outcomes_waiting_max) force();
}

void settler::force() {
    outcomes_unforced_ = 0;
    for (const auto& [number, since] : std::exchange(unforced_, {}))
        if (const auto found = submitted_.find(number); found != submitted_.end())
            found->second.forced = true;
    where_.submit({.work = [](store_transaction&) -> result<> { return {}; },
                   .done = [](const result<>&) {}});
}

task<> settler::run() {
    task_group alarms(co_await boost::asio::this_coro::executor);
    while (!co_await is_cancelled()) {
        take_answers();
        const auto now = env_.clock.steady();
        resubmit(now);
        const auto deadline = next_deadline();
        if (deadline && *deadline <= now) {
            force();
            continue;
        }
        if (deadline && (!alarm_at_ || *deadline < *alarm_at_)) {
            alarm_at_ = deadline;
            alarms.spawn(ring_at(*deadline, *deadline - now));
        }
        co_await answers_->arrived.wait();
    }
    alarms.cancel();
    co_await alarms.join();
}

// Not moved on for each outcome: it rings for the first, and is then set for what is left.
task<> settler::ring_at(steady_time when, std::chrono::nanoseconds after) {
    std::ignore = co_await env_.timer.sleep_for(after);
    if (alarm_at_ == when) alarm_at_.reset();
    answers_->arrived.ring();
}

std::optional<steady_time> settler::next_deadline() const {
    std::optional<steady_time> next;
    if (!unforced_.empty()) next = unforced_.begin()->second + options_.commit_delay;
    for (const auto& one : failed_) next = next ? std::min(*next, one.retry_at) : one.retry_at;
    return next;
}

void settler::take_answers() {
    std::vector<std::pair<std::uint64_t, result<>>> list;
    {
        const std::scoped_lock lock(answers_->mutex);
        list.swap(answers_->list);
    }
    for (const auto& [number, answer] : list) {
        auto known = submitted_.extract(number);
        if (known.empty()) continue;  // Of before `cut_off`.
        unforced_.erase(number);
        auto& what = known.mapped();
        if (!what.forced) outcomes_unforced_ -= what.unforced;
        bytes_submitted_ -= what.bytes;
        take_answer(std::move(what), answer);
    }
    while (!waiting_.empty() && has_room_for(waiting_.front())) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        submit(std::move(next));
    }
    if (outcomes_waiting_ == 0) drained_.ring();
}

void settler::take_answer(batch what, const result<>& answer) {
    const auto outcomes = what.unit->begin();  // It may have failed before it was begun.
    if (answer) {
        retry_delay_ = options_.retry_delay_min;
        if (ended_ && std::ranges::any_of(outcomes, is_end)) ended_();
        for (const auto& one : outcomes)
            if (one.rider) one.rider->landed(one);
        return finish(what);
    }
    if (answer.error().code() == error_code::lease_lost) {
        env_.log.warn("Outbox: lock lost, another node dispatches now; dropped {Count} outcomes",
                      {{"Count", outcomes.size()}, {"Epoch", epoch_}});
        cut_off();
        return lost_();
    }
    try_later(std::move(what), answer.error());
}

// Which of them it is, is found in a few steps; the others are not kept waiting.
void settler::try_halves(const batch& what) {
    const auto middle = what.unit->outcomes().size() / 2;
    submit_again(what.unit->those([middle](std::size_t i) { return i < middle; }));
    submit_again(what.unit->those([middle](std::size_t i) { return i >= middle; }));
}

void settler::try_alone_later(batch what, const error& why) {
    const auto& one = what.unit->outcomes().front();
    env_.log.warn(
        "Outbox: what became of row {Seq} cannot be recorded, will try again: {Error}; look for a "
        "trigger on outbox_messages that refuses it",
        {{"Seq", one.seq}, {"Error", why.what()}});
    note_failure(what, why);
    what.alone_delay = what.alone_delay.count() == 0
                           ? options_.retry_delay_min
                           : std::min(what.alone_delay * 2, options_.alone_delay_max);
    what.retry_at = env_.clock.steady() + what.alone_delay;
    failed_.push_back(std::move(what));
}

void settler::try_later(batch what, const error& why) {
    bool differs = false;  // All are asked.
    for (const auto& one : what.unit->outcomes())
        differs |= one.rider && one.rider->rides_otherwise();
    if (differs) return submit_again(what.unit);
    if (may_concern_one_row(why)) {
        if (what.unit->outcomes().size() > 1) return try_halves(what);
        return try_alone_later(std::move(what), why);
    }
    env_.log.warn("Outbox: could not record {Count} outcomes, will try again: {Error}",
                  {{"Count", what.unit->outcomes().size()}, {"Error", why.what()}});
    note_failure(what, why);
    if (why.is_in_doubt()) {
        const auto all = what.unit;
        const auto is_retry = [&all](std::size_t i) {
            return all->outcomes()[i].to == outbox_status::pending;
        };
        what.unit = all->those(is_retry);
        finish(what);
        what.unit = all->those(std::not_fn(is_retry));
        if (what.unit->outcomes().empty()) return;
    }
    if (const auto now = env_.clock.steady(); retry_at_ <= now) {
        retry_at_ = now + retry_delay_;
        retry_delay_ = std::min(retry_delay_ * 2, options_.retry_delay_max);
    }
    what.retry_at = retry_at_;
    failed_.push_back(std::move(what));
}

void settler::note_failure(const batch& what, const error& why) {
    for (const auto& one : what.unit->outcomes()) unrecorded_.insert(one.seq);
    board_.failed(why, unrecorded_.size());
}

void settler::note_recorded(const batch& what) {
    if (unrecorded_.empty()) return;
    for (const auto& one : what.unit->outcomes()) unrecorded_.erase(one.seq);
    board_.recorded(unrecorded_.size());
}

// The rows are another node's, or the next tenure's.
void settler::forget_failures() {
    if (unrecorded_.empty()) return;
    unrecorded_.clear();
    board_.recorded(0);
}

void settler::resubmit(steady_time now) {
    const auto due =
        std::ranges::partition(failed_, [now](const batch& one) { return one.retry_at > now; });
    std::vector<batch> again{std::move_iterator(due.begin()), std::move_iterator(due.end())};
    failed_.erase(due.begin(), due.end());
    for (auto& what : again) {
        what.since = now;
        what.forced = false;
        submit_when_there_is_room(std::move(what));
    }
}

void settler::finish(const batch& what) {
    outcomes_waiting_ -= what.unit->outcomes().size();
    note_recorded(what);
    what.unit->tell();
}

task<> settler::flush(std::chrono::nanoseconds limit) {
    const auto end = env_.clock.steady() + limit;
    if (outcomes_waiting_ > 0) force();
    while (outcomes_waiting_ > 0) {
        const auto now = env_.clock.steady();
        if (now >= end) co_return;
        co_await drained_.wait_for(env_.timer, end - now);
    }
}

void settler::cut_off() {
    is_cut_off_ = true;
    joinable_ = 0;
    submitted_.clear();
    unforced_.clear();
    failed_.clear();
    waiting_.clear();
    forget_failures();
    outcomes_waiting_ = outcomes_unforced_ = bytes_submitted_ = 0;
    drained_.ring();
}

}  // namespace posthorn
