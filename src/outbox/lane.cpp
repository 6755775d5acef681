#include "outbox/lane.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/cancellation.hpp"
#include "base/with_timeout.hpp"
#include "outbox/outbox_log.hpp"

namespace posthorn {
namespace {

// One whose answers are an error value too, as a time-out wants it.
task<result<std::vector<delivery>>> ask(transport& wire, message_batch batch) {
    try {
        co_return co_await wire.deliver(std::move(batch));
    } catch (const std::exception& broken) {  // Against its contract, but ours to survive.
        co_return fail(error_code::io_failed, "the transport failed: {}", broken.what());
    }
}

delivery failure(std::string why, outcome what = outcome::transient) {
    return {.what = what,
            .duplicate = false,
            .payload = {},
            .error = std::move(why),
            .retry_after = {}};
}

}  // namespace

lane::lane(std::string destination, lane_services with)
    : destination_(std::move(destination)), with_(with), used_at_(with.clock.steady()) {}

lane::offered lane::offer(outbox_row row) {
    if (held_.knows(row.seq)) return offered::known;
    if (closed_ || is_resting() || held_.size() >= with_.options.lane.window_rows) {
        store_has_more_ = true;
        return offered::full;
    }
    held_.add(row.seq);
    queue_.push_back(std::move(row));
    used_at_ = with_.clock.steady();
    return offered::taken;
}

void lane::pump() {
    while (!closed_ && in_flight_ < with_.options.lane.batches_in_flight_max && !queue_.empty()) {
        auto rows = next_batch();
        if (rows.empty()) continue;
        ++in_flight_;
        with_.batches.spawn(deliver(std::move(rows)));
    }
}

std::vector<outbox_row> lane::next_batch() {
    const auto now = with_.clock.wall();
    std::vector<outbox_row> rows;
    std::vector<settlement> late;
    while (!queue_.empty() && rows.size() < with_.options.lane.batch_rows) {
        auto row = std::move(queue_.front());
        queue_.pop_front();
        if (!is_expired(row.body, now)) {
            rows.push_back(std::move(row));
            continue;
        }
        if (with_.clocks.jumped()) {
            leave_in_doubt(row);
            continue;
        }
        const decision what{.what = decision::kind::expire};
        auto& outcome = late.emplace_back(expire(row.seq, now));
        log_attempt(with_.log, {row, what, outcome.error, {}});
        count(what.what, row.attempts);
    }
    with_.settler.add(*this, std::move(late));
    return rows;
}

// Expired is for ever, and a clock that has jumped may jump back. The row stays in the table as it
// is, where the next sweep finds it.
void lane::leave_in_doubt(const outbox_row& row) {
    held_.remove(row.seq);
    in_doubt_until_ = with_.clock.steady() + with_.options.poll_interval;
}

task<> lane::deliver(std::vector<outbox_row> rows) {
    const auto begun = with_.clock.steady();
    auto answers = co_await attempt(rows);
    const auto took = with_.clock.steady() - begun;
    const bool interrupted = co_await is_cancelled();
    --in_flight_;
    used_at_ = with_.clock.steady();
    if (abandoned_) {
        forget(rows);
    } else {
        if (interrupted) keep_good_news(rows, answers);
        if (!answers.empty())
            with_.counters.peers.note(destination_, shows_a_peer(answers), with_.clock.wall());
        record(std::move(rows), std::move(answers), took);
    }
    pump();
    with_.batch_ended.ring();
}

// Nothing failed: we stopped listening. Only what is known to be delivered is recorded.
void lane::keep_good_news(std::vector<outbox_row>& rows, std::vector<delivery>& answers) {
    std::vector<outbox_row> sure;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (answers[i].what == outcome::delivered)
            sure.push_back(std::move(rows[i]));
        else
            held_.remove(rows[i].seq);
    }
    std::erase_if(answers, [](const delivery& one) { return one.what != outcome::delivered; });
    rows = std::move(sure);
}

task<std::vector<delivery>> lane::attempt(const std::vector<outbox_row>& rows) {
    auto* wire = with_.routes.find(destination_);
    if (wire == nullptr) {
        rests_until_ = with_.clock.steady() + with_.options.judge.undeliverable_delay;
        const auto why = fmt::format(
            "no route to '{}'; add it to node_options::routes, or under [routes]", destination_);
        co_return std::vector<delivery>(rows.size(), failure(why, outcome::undeliverable));
    }
    message_batch batch;
    batch.reserve(rows.size());
    for (const auto& row : rows) batch.push_back(&row.body);
    auto answers = co_await with_timeout(with_.timer, with_.options.lane.attempt_timeout,
                                         ask(*wire, std::move(batch)));
    if (!answers) {
        const bool late = answers.error().code() == error_code::timed_out;
        auto missed = failure(late ? std::string("timed out: ") + answers.error().what()
                                   : std::string(answers.error().what()));
        missed.code = answers.error().code();
        co_return std::vector<delivery>(rows.size(), missed);
    }
    answers->resize(rows.size(), failure("the answer left this message out"));
    co_return *std::move(answers);
}

void lane::record(std::vector<outbox_row> rows, std::vector<delivery> answers,
                  std::chrono::nanoseconds took) {
    const auto took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(took);
    const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(took);
    const auto now = with_.clock.wall();
    const judge_rules rules{with_.retries, with_.options.judge};
    std::vector<settlement> outcomes, held_back;
    outcomes.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& answer = answers[i];
        if (answer.error.size() > with_.options.judge.error_bytes_max)
            answer.error.resize(with_.options.judge.error_bytes_max);
        const auto what = judge(answer, rows[i], now, rules, with_.random.unit());
        if (what.what == decision::kind::expire && with_.clocks.jumped()) {
            leave_in_doubt(rows[i]);
            continue;
        }
        log_attempt(with_.log, {rows[i], what, answer.error, took_ms});
        count(what.what, rows[i].attempts);
        outcomes.push_back(to_settlement(what, rows[i], now, std::move(answer.error)));
        if (what.what == decision::kind::hold) held_back.push_back(outcomes.back());
    }
    raise_alarm(held_back);
    // What has no route was on no wire.
    if (const auto sent = outcomes.size() - held_back.size(); sent > 0)
        with_.counters.send_us.record(static_cast<std::uint64_t>(took_us.count()), sent);
    with_.settler.add(*this, std::move(outcomes));
}

void lane::count(decision::kind what, std::int32_t attempts) {
    auto& counters = with_.counters;
    const bool over = what == decision::kind::settle || what == decision::kind::bury ||
                      what == decision::kind::expire;
    if (over) counters.retries.record(static_cast<std::uint64_t>(std::max(attempts, 0)));
    switch (what) {
        case decision::kind::settle: ++counters.sent; break;
        case decision::kind::retry: ++counters.retried; break;
        case decision::kind::throttle: ++counters.throttled; break;
        case decision::kind::hold: ++counters.undeliverable; break;
        case decision::kind::bury: ++counters.dead; break;
        case decision::kind::expire: ++counters.expired; break;
    }
}

void lane::raise_alarm(const std::vector<settlement>& held_back) {
    if (held_back.empty()) return;
    with_.log.error("Outbox: {Count} messages for {Destination} are undeliverable: {Error}",
                    {{"Count", held_back.size()},
                     {"Destination", destination_},
                     {"Error", held_back.front().error}});
}

void lane::bury(std::span<const bad_row> rows, wall_time now) {
    std::vector<settlement> outcomes;
    for (const auto& row : rows) {
        if (!held_.add(row.seq)) continue;
        with_.log.error("Outbox: row {Seq} for {Destination} is not a message: {Error}",
                        {{"Seq", row.seq}, {"Destination", destination_}, {"Error", row.reason}});
        count(decision::kind::bury, 0);
        outcomes.push_back(posthorn::bury(row, now));
    }
    with_.settler.add(*this, std::move(outcomes));
}

void lane::postpone(const outbox_row& row, wall_time now) {
    if (!held_.add(row.seq)) return;
    with_.settler.add(*this, {posthorn::postpone(row, now)});
}

std::size_t lane::begin_read() {
    if (closed_ || is_resting() || held_.size() >= with_.options.lane.window_rows) {
        store_has_more_ = true;
        return 0;
    }
    store_has_more_ = false;
    held_.begin_read();
    // What is in memory is due in the table too, so this is the room plus the rows held.
    return with_.options.lane.window_rows;
}

void lane::end_read(bool store_has_more) {
    held_.end_read();
    if (store_has_more) store_has_more_ = true;
    ask_for_more();
}

void lane::settled(std::span<const settlement> outcomes) {
    bool sooner = false;
    for (const auto& one : outcomes) {
        held_.remove(one.seq);
        if (one.to == outbox_status::pending) sooner |= with_.agenda.note(one.next_attempt_at);
    }
    if (sooner) with_.sweep.look_at_agenda();
    ask_for_more();
}

void lane::ask_for_more() {
    if (!store_has_more_ || closed_ || is_resting()) return;
    if (with_.clock.steady() < in_doubt_until_) return;  // It would find the same rows again.
    if (held_.size() * 2 > with_.options.lane.window_rows) return;
    store_has_more_ = false;
    with_.sweep.want();
}

void lane::close() {
    closed_ = true;
    for (const auto& row : queue_) held_.remove(row.seq);
    queue_.clear();
}

void lane::forget(const std::vector<outbox_row>& rows) {
    for (const auto& row : rows) held_.remove(row.seq);
}

bool lane::is_idle() const {
    return is_empty() && with_.clock.steady() - used_at_ >= with_.options.lane.idle_time;
}

bool lane::is_resting() const { return with_.clock.steady() < rests_until_; }

}  // namespace posthorn
