#include "outbox/rules/judge.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using kind = decision::kind;

constexpr wall_time now{std::chrono::hours{24 * 365 * 56}};
constexpr wall_time never{};

struct judge_case {
    const char* claim;
    delivery answer;
    std::int32_t attempts;
    std::int32_t max_retries;
    wall_time expires_at;
    decision expected;
};

delivery answered(outcome what, std::chrono::milliseconds retry_after = 0ms) {
    return {
        .what = what, .duplicate = false, .payload = {}, .error = "no", .retry_after = retry_after};
}

delivery duplicate(outcome what) {
    auto answer = answered(what);
    answer.duplicate = true;
    return answer;
}

const judge_case cases[] = {
    {"delivered is sent", answered(outcome::delivered), 0, 5, now + 1h, {kind::settle}},
    {"delivered late is sent", answered(outcome::delivered), 0, 5, now - 1h, {kind::settle}},
    {"a duplicate is sent", duplicate(outcome::delivered), 0, 5, now + 1h, {kind::settle}},
    {"a duplicate without an acknowledgement is sent",
     duplicate(outcome::transient),
     0,
     5,
     now + 1h,
     {kind::settle}},
    {"neither acknowledged nor duplicate is a failure",
     delivery{},
     0,
     5,
     now + 1h,
     {kind::retry, true, now + 2s}},
    {"the first failure waits for the base",
     answered(outcome::transient),
     0,
     5,
     now + 1h,
     {kind::retry, true, now + 2s}},
    {"the fifth failure is retried",
     answered(outcome::transient),
     4,
     5,
     now + 1h,
     {kind::retry, true, now + 32s}},
    {"the sixth failure of five retries buries",
     answered(outcome::transient),
     5,
     5,
     now + 1h,
     {kind::bury, true}},
    {"no retries buries at once", answered(outcome::transient), 0, 0, now + 1h, {kind::bury, true}},
    {"for ever is for ever",
     answered(outcome::transient),
     1000,
     retry_for_ever,
     now + 1h,
     {kind::retry, true, now + 5min}},
    {"attempts do not overflow",
     answered(outcome::transient),
     std::numeric_limits<std::int32_t>::max(),
     retry_for_ever,
     now + 1h,
     {kind::bury, true}},
    {"a retry past the expiry comes at the expiry",
     answered(outcome::transient),
     0,
     5,
     now + 1s,
     {kind::retry, true, now + 1s}},
    {"a failure at the expiry expires",
     answered(outcome::transient),
     0,
     5,
     now,
     {kind::expire, true}},
    {"spent and past the expiry is dead",
     answered(outcome::transient),
     5,
     5,
     now - 1s,
     {kind::bury, true}},
    {"without an expiry it never expires",
     answered(outcome::transient),
     0,
     5,
     never,
     {kind::retry, true, now + 2s}},
    {"permanent buries at once", answered(outcome::permanent), 0, 5, now + 1h, {kind::bury, true}},
    {"permanent for a duplicate id buries too",
     duplicate(outcome::permanent),
     0,
     5,
     now + 1h,
     {kind::bury, true}},
    {"throttled waits as told and is not charged",
     answered(outcome::throttled, 90s),
     5,
     5,
     now + 1h,
     {kind::throttle, false, now + 90s}},
    {"throttled waits a second at least",
     answered(outcome::throttled, 0ms),
     0,
     5,
     now + 1h,
     {kind::throttle, false, now + 1s}},
    {"throttled waits an hour at most",
     answered(outcome::throttled, std::chrono::milliseconds::max()),
     0,
     5,
     now + 24h,
     {kind::throttle, false, now + 1h}},
    {"throttled past the expiry comes at the expiry",
     answered(outcome::throttled, 90s),
     0,
     5,
     now + 9s,
     {kind::throttle, false, now + 9s}},
    {"throttled at the expiry expires uncharged",
     answered(outcome::throttled, 90s),
     0,
     5,
     now,
     {kind::expire, false}},
    {"undeliverable stays and is not charged",
     answered(outcome::undeliverable),
     5,
     5,
     now + 1h,
     {kind::hold, false, now + 30s}},
    {"undeliverable at the expiry expires uncharged",
     answered(outcome::undeliverable),
     0,
     5,
     now,
     {kind::expire, false}},
};

outbox_row row_of(const judge_case& one) {
    outbox_row row{.seq = 7, .body = {}, .attempts = one.attempts};
    row.body.max_retries = one.max_retries;
    row.body.expires_at = one.expires_at;
    return row;
}

TEST(judge, decides_every_case_of_the_table) {
    const retry_policy policy;
    const judge_options options;
    for (const auto& one : cases)
        EXPECT_EQ(judge(one.answer, row_of(one), now, {policy, options}, 0), one.expected)
            << one.claim;
}

TEST(judge, buries_what_a_custom_policy_gives_up) {
    const retry_policy policy(custom_backoff([](auto, auto) { return std::nullopt; }));
    const judge_options options;
    const auto what =
        judge(answered(outcome::transient), row_of(cases[0]), now, {policy, options}, 0);
    EXPECT_EQ(what, (decision{kind::bury, true}));
}

TEST(judge, gives_the_policy_its_share_of_chance) {
    const retry_policy policy;
    const judge_options options;
    const auto what =
        judge(answered(outcome::transient), row_of(cases[0]), now, {policy, options}, 0.5);
    EXPECT_EQ(what.next_attempt_at, now + 2250ms);
}

TEST(judge, charges_no_message_with_an_answer_that_never_came) {
    const retry_policy policy;
    const judge_options options;
    auto row = row_of(cases[0]);
    row.body.max_retries = 0;
    const auto silent = answered(outcome::unanswered);
    EXPECT_EQ(judge(silent, row, now, {policy, options}, 0),
              (decision{kind::spare, false, now + 2s}));
    row.body.expires_at = now;
    EXPECT_EQ(judge(silent, row, now, {policy, options}, 0), (decision{kind::expire, false}));
}

TEST(rest_asked, is_for_the_lane_only_if_the_receiver_speaks_for_itself) {
    const judge_options options;
    const auto in_progress = answered(outcome::throttled, 7s);
    auto overloaded = answered(outcome::throttled, 20s);
    overloaded.code = error_code::overloaded;
    auto handler_down = answered(outcome::throttled, 5s);
    handler_down.code = error_code::handler_unreachable;
    const auto sent = answered(outcome::delivered);
    struct {
        std::string claim;
        std::vector<delivery> answers;
        std::optional<std::chrono::milliseconds> expected;
    } const rows[] = {
        {"nothing is asked", {sent, sent}, {}},
        {"one in progress asks for itself", {in_progress}, {}},
        {"and so among others", {sent, in_progress}, {}},
        {"one overloaded asks for all", {overloaded}, 20s},
        {"also among others", {sent, overloaded, in_progress}, 20s},
        {"one whose handler is down asks for itself", {sent, handler_down}, {}},
        {"all of several ask for all, for the shortest time",
         {answered(outcome::throttled, 9s), in_progress},
         7s},
        {"a second at least", {answered(outcome::throttled), answered(outcome::throttled)}, 1s},
    };
    for (const auto& one : rows)
        EXPECT_EQ(rest_asked(one.answers, options), one.expected) << one.claim;
}

TEST(to_settlement, speaks_the_words_of_the_store) {
    struct {
        kind what;
        outbox_status to;
    } const rows[] = {
        {kind::settle, outbox_status::sent},      {kind::bury, outbox_status::dead},
        {kind::expire, outbox_status::expired},   {kind::retry, outbox_status::pending},
        {kind::throttle, outbox_status::pending}, {kind::hold, outbox_status::pending},
        {kind::spare, outbox_status::pending}};
    for (const auto& one : rows) {
        const auto told = to_settlement({one.what, true, now + 3s}, row_of(cases[0]), now, "why");
        EXPECT_EQ(told.seq, 7);
        EXPECT_EQ(told.to, one.to);
        EXPECT_EQ(told.at, now);
        EXPECT_EQ(told.next_attempt_at, now + 3s);
        EXPECT_TRUE(told.charged);
        EXPECT_EQ(told.error, one.what == kind::settle ? "" : "why");
    }
}

TEST(postpone, waits_for_the_time_to_deliver_but_not_past_the_expiry) {
    auto row = row_of(cases[0]);
    row.body.deliver_at = now + 20min;
    EXPECT_EQ(postpone(row, now).next_attempt_at, now + 20min);
    EXPECT_EQ(postpone(row, now).to, outbox_status::pending);
    EXPECT_FALSE(postpone(row, now).charged);
    row.body.deliver_at = now + 2h;
    EXPECT_EQ(postpone(row, now).next_attempt_at, now + 1h);
}

TEST(expire, leaves_the_reason_of_before_to_be_read) {
    EXPECT_EQ(expire(7, now).to, outbox_status::expired);
    EXPECT_TRUE(expire(7, now).keeps_last_error);
}

TEST(is_expired, counts_the_moment_itself) {
    message body;
    body.expires_at = now;
    EXPECT_FALSE(is_expired(body, now - 1ms));
    EXPECT_TRUE(is_expired(body, now));
}

}  // namespace
}  // namespace posthorn
