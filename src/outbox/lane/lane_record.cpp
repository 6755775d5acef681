#include "outbox/lane/lane_record.hpp"

#include <algorithm>
#include <utility>

#include "base/planted.hpp"
#include "store/settle_rider.hpp"

namespace posthorn {
namespace {

using kind = decision::kind;

void count(outbox_counters& counters, kind what, std::int32_t attempts) {
    const bool over = what == kind::settle || what == kind::bury || what == kind::expire;
    if (over) counters.retries.record(static_cast<std::uint64_t>(std::max(attempts, 0)));
    switch (what) {
        case kind::settle: ++counters.sent; break;
        case kind::retry: ++counters.retried; break;
        case kind::throttle: ++counters.throttled; break;
        case kind::hold: ++counters.undeliverable; break;
        case kind::spare: ++counters.spared; break;
        case kind::bury: ++counters.dead; break;
        case kind::expire: ++counters.expired; break;
    }
}

destination_counts one_more(kind what) {
    return {.sent = what == kind::settle ? 1U : 0U,
            .retried = what == kind::retry ? 1U : 0U,
            .dead = what == kind::bury ? 1U : 0U,
            .expired = what == kind::expire ? 1U : 0U};
}

void raise_alarm(logger& log, std::string_view destination, std::size_t number,
                 std::string_view error) {
    log.error(number == 1 ? "Outbox: {Count} message for {Destination} is undeliverable: {Error}"
                          : "Outbox: {Count} messages for {Destination} are undeliverable: {Error}",
              {{"Count", number}, {"Destination", destination}, {"Error", error}});
}

// Where dead letters are not kept, what was given up is closed at once.
settlement as_kept(settlement what, const judge_options& options) {
    if (options.keeps_dead || what.to != outbox_status::dead) return what;
    what.to = outbox_status::resolved;
    what.resolution = "given up; dead letters are not kept (outbox.dead_letters)";
    return what;
}

}  // namespace

std::vector<settlement> record(finished_batch batch, const record_deps& with,
                               const std::function<void(const outbox_row&)>& in_doubt) {
    const auto took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(batch.took);
    const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(batch.took);
    const auto now = with.env.clock.wall();
    const judge_rules rules{with.retries, with.options};
    std::vector<settlement> outcomes;
    outcomes.reserve(batch.rows.size());
    destination_counts counted;
    std::size_t held_back = 0;
    std::string why_held_back;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
        const auto& row = batch.rows[i];
        auto& answer = batch.answers[POSTHORN_PLANTED(batch_judged_by_its_first) ? 0 : i];
        if (answer.error.size() > with.options.error_bytes_max)
            answer.error.resize(with.options.error_bytes_max);
        const auto what = judge(answer, row, now, rules, with.env.random.unit());
        if (what.what == kind::expire && with.clocks.jumped()) {
            in_doubt(row);
            continue;
        }
        log_attempt(with.env.log, {row, what, answer.error, took_ms});
        count(with.counters, what.what, row.attempts);
        counted += one_more(what.what);
        if (what.what == kind::hold && held_back++ == 0) why_held_back = answer.error;
        auto& outcome = outcomes.emplace_back(
            as_kept(to_settlement(what, row, now, std::move(answer.error)), with.options));
        outcome.effect_unknown = answer.what == posthorn::outcome::unanswered;
        outcome.rider = std::move(answer.rider);
        if (outcome.rider) outcome.rider->amend(row, outcome);
    }
    // What has no route was on no wire.
    if (const auto sent = outcomes.size() - held_back; sent > 0) {
        const auto us = static_cast<std::uint64_t>(took_us.count());
        with.counters.send_us.record(us, sent);
        counted.took[duration_part(us)] += sent;
    }
    if (!batch.rows.empty())
        with.counters.destinations.add(batch.rows.front().body.destination, counted);
    if (held_back > 0)
        raise_alarm(with.env.log, batch.rows.front().body.destination, held_back, why_held_back);
    return outcomes;
}

std::vector<settlement> record_expired(const std::vector<outbox_row>& rows, const record_deps& with,
                                       const std::function<void(const outbox_row&)>& in_doubt) {
    const auto now = with.env.clock.wall();
    std::vector<settlement> outcomes;
    for (const auto& row : rows) {
        if (with.clocks.jumped()) {
            in_doubt(row);
            continue;
        }
        const decision what{.what = kind::expire};
        auto& outcome = outcomes.emplace_back(expire(row.seq, now));
        log_attempt(with.env.log, {row, what, outcome.error, {}});
        count(with.counters, what.what, row.attempts);
        with.counters.destinations.add(row.body.destination, one_more(what.what));
    }
    return outcomes;
}

settlement record_bad(const bad_row& row, std::string_view destination, const record_deps& with) {
    with.env.log.error("Outbox: row {Seq} for {Destination} is not a message: {Error}",
                       {{"Seq", row.seq}, {"Destination", destination}, {"Error", row.reason}});
    count(with.counters, kind::bury, 0);
    with.counters.destinations.add(destination, one_more(kind::bury));
    auto outcome = as_kept(bury(row, with.env.clock.wall()), with.options);
    if (POSTHORN_PLANTED(corrupt_called_delivered)) outcome.to = outbox_status::sent;
    return outcome;
}

}  // namespace posthorn
