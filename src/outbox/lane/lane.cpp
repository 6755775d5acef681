#include "outbox/lane/lane.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/asio/cancellation_signal.hpp>

#include "base/async/cancellation.hpp"
#include "base/planted.hpp"
#include "outbox/lane/attempt.hpp"

namespace posthorn {

using permit = breaker::permit;

lane::lane(std::string destination, lane_deps with, bool paused)
    : destination_(std::move(destination)),
      with_(with),
      options_(with_limits(with.options.lane, with.routes.limits(destination_))),
      gate_(options_.breaker, paused),
      rate_(options_.rate),
      size_(options_.batch_rows),
      window_(window_of(options_)),
      held_(with.counters.memory),
      limits_(with.env, with.batches),
      used_at_(with.env.clock.steady()) {}

lane::~lane() { with_.counters.board.forget(destination_); }

std::size_t lane::room() const {
    if (closed_) return 0;
    switch (gate_.may_take(now())) {
        case permit::none: return 0;
        case permit::one: return waiting() == 0 ? 1 : 0;
        case permit::all: break;
    }
    if (held_.bytes() >= options_.window_bytes) return 0;
    // The memory of all lanes is used up; one that has nothing must not starve for that.
    if (with_.counters.memory.left_of(with_.options.lanes_bytes_max) == 0)
        return held_.size() == 0 ? 1 : 0;
    return options_.window_rows - std::min(held_.size(), options_.window_rows);
}

std::size_t lane::room_in_bytes() const {
    return std::min(options_.window_bytes - std::min(held_.bytes(), options_.window_bytes),
                    with_.counters.memory.left_of(with_.options.lanes_bytes_max));
}

lane::offered lane::offer(outbox_row& row) {
    if (held_.knows(row.seq)) return offered::known;
    if (backlog_) backlog_->saw(row.seq);
    if (room() == 0 || (backlog_ && !backlog_->has_room_for(row.seq))) {
        store_has_more_ = true;
        return gate_.may_take(now()) == permit::all ? offered::full : offered::shut;
    }
    held_.add(row.seq, bytes_of(row));
    const bool old = backlog_ && backlog_->is_old(row.seq);
    old ? backlog_->push(std::move(row)) : queue_.push(std::move(row));
    used_at_ = now();
    return offered::taken;
}

bool lane::is_for_others(offered what) {
    constexpr std::size_t waiting_max = 4'000;
    if (what != offered::full) return what == offered::shut;
    return ++waiting_ > waiting_max;
}

// A transport that answers at once ends its batch inside of here. Were the next one begun there,
// each would lie deeper on the stack than the last.
void lane::pump() {
    if (std::exchange(pumps_, true)) return;
    launch_what_may_go();
    pumps_ = false;
}

void lane::prepare(const message& next) {
    if (closed_ || waiting() > 0 || gate_.may_send(now()) != permit::all) return;
    auto* const wire = with_.routes.find(destination_);
    if (wire == nullptr) return;
    try {
        prepared_ = prepare_traced(*wire, next, tracing(with_.env.traces));
    } catch (const std::exception& broken) {  // Then it is made ready when it is sent.
        with_.env.log.debug("Outbox: a message to {Destination} could not be prepared: {Error}",
                            {{"Destination", destination_}, {"Error", broken.what()}});
    }
}

void lane::launch_what_may_go() {
    while (!closed_ && in_flight_ < window_.size() && waiting() > 0) {
        const auto may = gate_.may_send(now());
        if (may == permit::none) return;
        auto wanted = may == permit::one ? 1 : std::min(size_.rows(), waiting());
        const auto of_old = backlog_ ? backlog_->allows(wanted, beside(may), now()) : 0;
        if (of_old == 0 && queue_.empty()) return wake_for_backlog();
        wanted = of_old > 0 ? of_old : std::min(wanted, queue_.size());
        const auto allowed = rate_.allows(wanted, now());
        if (allowed == 0) return wake_at(rate_.ready_at(wanted, now()));
        flight going{
            .rows = next_rows(of_old > 0, allowed), .probe = may == permit::one, .old = of_old > 0};
        if (going.rows.empty()) continue;
        rate_.take(going.rows.size(), now());
        if (backlog_) backlog_->went(going.old, going.rows.size(), now());
        if (going.probe) gate_.breaker.begin_probe();
        launch(std::move(going));
    }
}

std::vector<outbox_row> lane::next_rows(bool old, std::size_t rows_max) {
    const auto wall = with_.env.clock.wall();
    std::vector<outbox_row> rows, late;
    while (!(old ? backlog_->empty() : queue_.empty()) && rows.size() < rows_max) {
        auto row = old ? backlog_->pop() : queue_.pop();
        (is_expired(row.body, wall) ? late : rows).push_back(std::move(row));
    }
    settle(record_expired(late, recording(), [this](const auto& row) { leave_in_doubt(row); }));
    return rows;
}

// Expired is for ever, and a clock that has jumped may jump back. The row stays in the table as it
// is, where the next sweep finds it.
void lane::leave_in_doubt(const outbox_row& row) {
    held_.remove(row.seq);
    in_doubt_until_ = now() + with_.options.poll_interval;
}

void lane::launch(flight going) {
    ++in_flight_;
    const auto limit = limits_.add(now() + options_.attempt_timeout);
    with_.batches.spawn(deliver(std::move(going), limit), limit->stop);
}

task<> lane::deliver(flight going, attempt_limits::place limit) {
    auto* const wire = with_.routes.find(destination_);
    const auto begun = now();
    finished_batch back;
    if (wire != nullptr)
        back.answers = co_await attempt(*wire, going.rows, tracing(with_.env.traces), prepared_);
    else
        back.answers = answer_without_route(going.rows);
    back.took = now() - begun;
    const bool late = limit->late;
    if (late)
        back.answers = timed_out(
            going.rows.size(), std::chrono::ceil<std::chrono::milliseconds>(limit->until - begun));
    limits_.remove(limit);
    if (going.old) backlog_->came_back(now());
    const bool interrupted = !late && co_await is_cancelled();
    if (options_.failures_shut && going.probe && !POSTHORN_PLANTED(breaker_charges))
        spare(back.answers);
    if (wire != nullptr && !interrupted && !is_cut_off_)
        learn(going, back);
    else if (going.probe)
        gate_.breaker.drop_probe();
    back.rows = std::move(going.rows);
    finish(std::move(back), interrupted);
}

std::vector<delivery> lane::answer_without_route(const std::vector<outbox_row>& rows) {
    if (gate_.mode(now()) != lane_mode::no_route) held_back_.clear();  // Of an earlier look.
    gate_.look_for_route_at(now() + with_.options.judge.undeliverable_delay);
    for (const auto& row : rows)
        if (held_back_.size() < options_.window_rows) held_back_.push_back(row.seq);
    const auto missing = no_route_to(destination_);
    trouble_.note(missing.error, now());
    publish();
    return {rows.size(), missing};
}

void lane::finish(finished_batch back, bool interrupted) {
    --in_flight_;
    used_at_ = now();
    if (is_cut_off_) {
        let_go(back.rows);
    } else {
        if (interrupted) keep_good_news(back);
        remember_put_off(back);
        settle(
            record(std::move(back), recording(), [this](const auto& row) { leave_in_doubt(row); }));
    }
    pump();
    with_.batch_ended.ring();
}

// Nothing failed: we stopped listening. Only what is known to be delivered is recorded.
void lane::keep_good_news(finished_batch& back) {
    std::vector<outbox_row> sure;
    for (std::size_t i = 0; i < back.rows.size(); ++i) {
        if (back.answers[i].what == outcome::delivered)
            sure.push_back(std::move(back.rows[i]));
        else
            held_.remove(back.rows[i].seq);
    }
    std::erase_if(back.answers, [](const delivery& one) { return one.what != outcome::delivered; });
    back.rows = std::move(sure);
}

// Of no message's doing, so a person who knows that it is over need not wait for their times.
void lane::remember_put_off(const finished_batch& back) {
    for (std::size_t i = 0; i < back.rows.size(); ++i) {
        const auto seq = back.rows[i].seq;
        std::erase(put_off_, seq);
        if (back.answers[i].what == outcome::throttled && put_off_.size() < options_.window_rows)
            put_off_.push_back(seq);
    }
}

void lane::learn(const flight& going, const finished_batch& back) {
    const bool answered =
        options_.failures_shut ? shows_success(back.answers) : shows_a_peer(back.answers);
    const auto rest = rest_asked(back.answers, with_.options.judge);
    with_.counters.peers.note(destination_, answered, with_.env.clock.wall());
    size_.note({.rows = going.rows.size(), .took = back.took, .answered = answered},
               options_.attempt_timeout);
    window_.note({.took_effect = shows_success(back.answers) && !rest,
                  .took = back.took,
                  .in_flight = in_flight_});
    const auto before = gate_.breaker.current();
    gate_.breaker.note(answered, going.probe, now(), with_.env.random.unit());
    if (gate_.breaker.current() == breaker::state::closed && before != breaker::state::closed)
        trouble_.end();
    follow_outage(before, answered && !rest);
    trouble_.note(back.answers, now());
    if (rest) gate_.rest_until(now() + *rest);
    tell_of_rest(rest, answered);
    if (rest || gate_.breaker.current() != before) {
        if (gate_.may_take(now()) != permit::all) shut();
        tell_of_breaker(before);
        publish();
    }
}

// One that has never been out has nothing to do here.
void lane::follow_outage(breaker::state before, bool well) {
    const auto is = gate_.breaker.current();
    const bool opens = before == breaker::state::closed && is == breaker::state::open;
    if (opens && options_.replay && !backlog_)
        backlog_ = std::make_unique<backlog>(*options_.replay, options_.window_rows / 2,
                                             options_.window_bytes / 2);
    if (!backlog_) return;
    using enum replay_event;
    backlog_->note(opens ? opened : well ? answered : strained, now());
}

// Once for each time of trouble, however often it is asked anew.
void lane::tell_of_rest(std::optional<std::chrono::milliseconds> rest, bool answered) {
    if (!rest) {
        if (answered) told_of_rest_ = false;
        return;
    }
    if (std::exchange(told_of_rest_, true)) return;
    log_rest(with_.env.log, {destination_, trouble_.cause()});
}

void lane::tell_of_breaker(breaker::state before) {
    const auto is = gate_.breaker.current();
    if (is == breaker::state::open && before == breaker::state::closed)
        log_silence(with_.env.log, {destination_, trouble_.cause()});
    if (is == breaker::state::closed && before != breaker::state::closed) {
        with_.env.log.info("Outbox: {Destination} answers again", {{"Destination", destination_}});
        ask_for_more();
    }
}

record_deps lane::recording() const {
    const auto& retries = options_.retries ? *options_.retries : with_.retries;
    return {with_.env, with_.clocks, with_.counters, retries, with_.options.judge};
}

void lane::settle(std::vector<settlement> outcomes) {
    for (auto& one : outcomes) one.bytes += held_.bytes_of(one.seq);
    with_.settler.add(*this, std::move(outcomes));
}

void lane::bury(std::span<const bad_row> rows) {
    std::vector<settlement> outcomes;
    for (const auto& row : rows)
        if (held_.add(row.seq)) {
            outcomes.push_back(record_bad(row, destination_, recording()));
            outcomes.back().bytes = row.bytes;  // In the table, not in memory.
        }
    settle(std::move(outcomes));
}

void lane::postpone(const outbox_row& row, wall_time wall) {
    if (held_.add(row.seq)) settle({posthorn::postpone(row, wall)});
}

void lane::expire(std::vector<outbox_row> rows) {
    std::erase_if(rows, [this](const outbox_row& row) { return !held_.add(row.seq); });
    settle(record_expired(rows, recording(), [this](const auto& row) { leave_in_doubt(row); }));
}

void lane::drop(std::span<const dropped_row> rows) {
    let_go(take_waiting([&](const outbox_row& row) {
        return std::ranges::find(rows, row.seq, &dropped_row::seq) != rows.end();
    }));
    std::vector<settlement> outcomes;
    for (const auto& row : rows)
        if (held_.add(row.seq) || POSTHORN_PLANTED(dropped_in_flight))
            outcomes.push_back(posthorn::drop(row, with_.env.clock.wall()));
    settle(std::move(outcomes));
}

std::size_t lane::begin_read() {
    auto more = std::min(room(), options_.read_rows_max);
    if (backlog_ && more > 0) more = backlog_->begin_read(more);
    store_has_more_ = more == 0;
    if (more == 0) return 0;
    held_.begin_read();
    return more;
}

void lane::end_read(bool store_has_more) {
    held_.end_read();
    if (backlog_ && backlog_->end_read(store_has_more, now())) store_has_more = true;
    if (store_has_more)
        store_has_more_ = true;
    else
        waiting_ = 0;
    ask_for_more();
}

void lane::fail_read() {
    held_.end_read();
    store_has_more_ = true;
}

void lane::settled(std::span<const settlement> outcomes) {
    bool sooner = false;
    for (const auto& one : outcomes) {
        if (POSTHORN_PLANTED(retry_stays_held) && one.to == outbox_status::pending) continue;
        held_.remove(one.seq);
        if (one.to == outbox_status::pending)
            sooner |= with_.agenda.note(one.next_attempt_at, destination_);
    }
    if (sooner || (with_.options.round_rows && is_empty())) with_.sweep.look_at_agenda();
    ask_for_more();
}

void lane::ask_for_more() {
    if (!store_has_more_ || closed_ || gate_.may_take(now()) == permit::none) return;
    if (now() < in_doubt_until_) return;  // It would find the same rows again.
    if (held_.size() * 2 > options_.window_rows || held_.bytes() * 2 > options_.window_bytes)
        return;
    if (backlog_ && !backlog_->is_low()) return;  // The next poll looks for what is newer.
    store_has_more_ = false;
    with_.sweep.want(destination_);
}

void lane::let_go(const std::vector<outbox_row>& rows) {
    for (const auto& row : rows) held_.remove(row.seq);
}

void lane::stop() {
    closed_ = true;
    let_go(take_waiting([](const outbox_row&) { return true; }));
}

std::vector<outbox_row> lane::take_waiting(const std::function<bool(const outbox_row&)>& which) {
    auto rows = queue_.take_if(which);
    if (backlog_) std::ranges::move(backlog_->take_if(which), std::back_inserter(rows));
    return rows;
}

bool lane::is_idle() const {
    return is_empty() && alarms_ == 0 && !limits_.is_watching() && !held_.is_read() &&
           now() - used_at_ >= options_.idle_time;
}

// How a lane shuts and opens: pauses, rests, time and routes.

// What waits goes back to the table, where it is seen, and expires.
void lane::shut() {
    const auto rows = take_waiting([](const outbox_row&) { return true; });
    let_go(rows);
    with_.claims.let_go(rows);
    store_has_more_ = store_has_more_ || !rows.empty();
    if (const auto then = gate_.changes_at(now())) wake_at(*then);
}

void lane::pause(bool paused) {
    if (gate_.is_paused() == paused) return;
    gate_.pause(paused);
    if (gate_.may_take(now()) != breaker::permit::all) shut();
    store_has_more_ = true;  // As far as we know.
    ask_for_more();
    publish();
}

void lane::try_now() {
    gate_.try_now(now());
    std::ranges::move(std::exchange(put_off_, {}), std::back_inserter(held_back_));
    recall_held_back();
    store_has_more_ = true;  // As far as we know.
    go_on();
}

// What was put off is due again.
void lane::recall_held_back() {
    const auto wall = with_.env.clock.wall();
    std::vector<settlement> due;
    for (const auto seq : std::exchange(held_back_, {}))
        if (held_.add(seq)) due.push_back(recall(seq, wall));
    settle(std::move(due));
}

void lane::routes_changed() {
    options_ = with_limits(with_.options.lane, with_.routes.limits(destination_));
    rate_.change(options_.rate, now());
    size_.change_max(options_.batch_rows);
    window_.change(window_of(options_));
    gate_.look_for_route();
    gate_.breaker.change(options_.breaker, now());
    recall_held_back();
    go_on();
}

void lane::tend() {
    const auto wall = with_.env.clock.wall();
    const auto late =
        take_waiting([wall](const outbox_row& row) { return is_expired(row.body, wall); });
    settle(record_expired(late, recording(), [this](const auto& row) { leave_in_doubt(row); }));
    const auto mode = gate_.mode(now());
    if (mode != lane_mode::no_route) held_back_.clear();
    if (backlog_) backlog_->note(replay_event::time_passed, now());
    if (backlog_ && backlog_->is_over()) backlog_.reset();
    // While one is shut there is nothing new to tell.
    if (mode == lane_mode::running || mode != told_mode_ || waiting() > 0) publish();
}

void lane::wake_at(steady_time when) {
    if (closed_ || (wakes_at_ && *wakes_at_ <= when)) return;
    wakes_at_ = when;
    ++alarms_;
    with_.batches.spawn(wake_after(when));
}

task<> lane::wake_after(steady_time when) {
    if (when > now()) std::ignore = co_await with_.env.timer.sleep_for(when - now());
    const bool cancelled = co_await is_cancelled();
    --alarms_;
    if (wakes_at_ == when) wakes_at_.reset();
    if (closed_ || cancelled) co_return;
    go_on();
}

void lane::publish() {
    if (is_cut_off_) return;
    const auto at = now();
    lane_state state{.destination = destination_,
                     .mode = gate_.mode(at),
                     .breaker = gate_.breaker.current(),
                     .queued = waiting(),
                     .in_flight = in_flight_,
                     .window = window_.size(),
                     .batch = size_.rows(),
                     .batch_max = options_.batch_rows,
                     .rate = options_.rate.per_second};
    if (backlog_) {
        state.replay = backlog_->phase();
        state.replay_rate = backlog_->rate(at);
    }
    // A probe that is on its way has not opened it yet.
    if (state.mode == lane_mode::running)
        shut_since_.reset();
    else if (!shut_since_)
        shut_since_ = with_.env.clock.wall();
    state.since = shut_since_;
    if (state.mode != lane_mode::running || trouble_.is_recent(at)) {
        state.cause = trouble_.cause();
        state.is_fault = trouble_.is_fault();
    }
    if (const auto then = gate_.changes_at(at))
        state.until =
            with_.env.clock.wall() + std::chrono::ceil<std::chrono::milliseconds>(*then - at);
    told_mode_ = state.mode;
    with_.counters.board.note(std::move(state));
}

// What a lane does with rows that wait for an earlier one of their order key.

void lane::park(std::vector<outbox_row> rows, wall_time now) {
    std::vector<settlement> waiting;
    for (const auto& row : rows)
        if (!is_expired(row.body, now) && held_.add(row.seq))
            waiting.push_back(posthorn::park(row, now));
    settle(std::move(waiting));
    std::erase_if(rows, [now](const outbox_row& row) { return !is_expired(row.body, now); });
    expire(std::move(rows));
}

}  // namespace posthorn
