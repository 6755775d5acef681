#include "outbox/rules/judge.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace posthorn {
namespace {

using kind = decision::kind;
using std::chrono::milliseconds;

// The message stays pending unless its time is over.
decision later(kind what, bool charged, milliseconds delay, const outbox_row& row, wall_time now) {
    if (is_expired(row.body, now)) return {.what = kind::expire, .charged = charged};
    auto next = now + delay;
    if (row.body.expires_at != wall_time{}) next = std::min(next, row.body.expires_at);
    return {.what = what, .charged = charged, .next_attempt_at = next};
}

decision after_failure(const delivery& answer, const outbox_row& row, wall_time now,
                       const judge_rules& rules, double unit) {
    constexpr decision give_up{.what = kind::bury, .charged = true};
    if (row.attempts == std::numeric_limits<std::int32_t>::max()) return give_up;
    const auto attempts = row.attempts + 1;
    if (!retries_left(attempts, row.body.max_retries)) return give_up;
    const auto delay = rules.retries.delay(attempts, answer.error, unit);
    if (!delay) return give_up;
    return later(kind::retry, true, *delay, row, now);
}

// As after a first failure, however often: the lane's breaker makes the pauses longer.
milliseconds after_silence(const delivery& answer, const judge_rules& rules, double unit) {
    return rules.retries.delay(1, answer.error, unit).value_or(rules.options.unanswered_delay);
}

outbox_status status_after(kind what) {
    switch (what) {
        case kind::settle: return outbox_status::sent;
        case kind::bury: return outbox_status::dead;
        case kind::expire: return outbox_status::expired;
        case kind::retry:
        case kind::throttle:
        case kind::hold:
        case kind::spare: break;
    }
    return outbox_status::pending;
}

// Others of these speak of what one message needs, such as its handler.
bool speaks_of_itself(error_code why) {
    return why != error_code::handler_unreachable && why != error_code::clock_jumped;
}

milliseconds pause_of(const delivery& answer, const judge_options& options) {
    return std::clamp(answer.retry_after, options.throttled_delay_min, options.throttled_delay_max);
}

}  // namespace

decision judge(const delivery& answer, const outbox_row& row, wall_time now,
               const judge_rules& rules, double unit) {
    const auto& options = rules.options;
    switch (answer.what) {
        case outcome::delivered: return {.what = kind::settle};
        case outcome::permanent: return {.what = kind::bury, .charged = true};
        case outcome::throttled:
            return later(kind::throttle, false, pause_of(answer, options), row, now);
        case outcome::undeliverable:
            return later(kind::hold, false, options.undeliverable_delay, row, now);
        case outcome::unanswered:
            return later(kind::spare, false, after_silence(answer, rules, unit), row, now);
        case outcome::transient: break;
    }
    if (answer.duplicate) return {.what = kind::settle};
    return after_failure(answer, row, now, rules, unit);
}

std::optional<milliseconds> rest_asked(std::span<const delivery> answers,
                                       const judge_options& options) {
    std::optional<milliseconds> rest;
    bool all = answers.size() > 1;
    for (const auto& answer : answers) {
        all = all && answer.what == outcome::throttled;
        if (answer.what == outcome::throttled && answer.code && speaks_of_itself(*answer.code))
            rest = std::max(rest.value_or(milliseconds{0}), pause_of(answer, options));
    }
    if (!all || rest) return rest;
    // The soonest of them: it may be that each was in progress.
    const auto soonest = std::ranges::min(answers, {}, &delivery::retry_after);
    return pause_of(soonest, options);
}

bool is_expired(const message& body, wall_time now) noexcept {
    return body.expires_at != wall_time{} && now >= body.expires_at;
}

settlement to_settlement(const decision& what, const outbox_row& row, wall_time now,
                         std::string error) {
    const bool delivered = what.what == kind::settle;
    return {.seq = row.seq,
            .to = status_after(what.what),
            .at = now,
            .next_attempt_at = what.next_attempt_at,
            .charged = what.charged,
            .error = delivered ? std::string() : std::move(error),
            .resolution = {},
            .followers_wait = !row.body.order_key.empty()};
}

settlement expire(std::int64_t seq, wall_time now) {
    return {.seq = seq,
            .to = outbox_status::expired,
            .at = now,
            .next_attempt_at = {},
            .charged = false,
            .error = "not delivered before it expired",
            .resolution = {},
            .keeps_last_error = true};
}

settlement postpone(const outbox_row& row, wall_time now) {
    auto next = row.body.deliver_at.value_or(now);
    if (row.body.expires_at != wall_time{}) next = std::min(next, row.body.expires_at);
    return to_settlement({.what = kind::hold, .charged = false, .next_attempt_at = next}, row, now,
                         {});
}

settlement recall(std::int64_t seq, wall_time now) {
    return {.seq = seq, .to = outbox_status::pending, .at = now, .next_attempt_at = now};
}

settlement drop(const dropped_row& row, wall_time now) {
    return {.seq = row.seq,
            .to = outbox_status::resolved,
            .at = now,
            .next_attempt_at = {},
            .charged = false,
            .error = row.why,
            .resolution = row.why,
            .keeps_last_error = true,
            .rider = row.rider};
}

settlement park(const outbox_row& row, wall_time now) {
    return {.seq = row.seq,
            .to = outbox_status::pending,
            .at = now,
            .next_attempt_at = row.body.expires_at,
            .charged = false,
            .error = {},
            .resolution = {},
            .parks = true};
}

settlement bury(const bad_row& row, wall_time now) {
    return {.seq = row.seq,
            .to = outbox_status::dead,
            .at = now,
            .next_attempt_at = {},
            .charged = false,
            .error = row.reason,
            .resolution = {}};
}

}  // namespace posthorn
