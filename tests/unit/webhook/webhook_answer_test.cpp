#include "webhook/webhook_answer.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using statuses = std::vector<std::uint16_t>;

webhook_verdict answered(std::uint16_t status, std::optional<std::string> retry_after = {},
                         std::optional<std::string> control = {}) {
    guarded_answer answer;
    answer.status = status;
    answer.retry_after = std::move(retry_after);
    answer.webhook_delivery = std::move(control);
    return judge_webhook(answer);
}

TEST(webhook_verdicts, follow_the_table) {
    for (const auto status : statuses{200, 201, 204, 299})
        EXPECT_EQ(answered(status).what.what, outcome::delivered) << status;
    for (const auto status : statuses{100, 301, 302, 400, 401, 404, 429, 500, 502, 503})
        EXPECT_EQ(answered(status).what.what, outcome::transient) << status;
    EXPECT_EQ(answered(410).what.what, outcome::permanent);
    EXPECT_TRUE(answered(410).disables);
    EXPECT_TRUE(answered(500, {}, "disable").disables);
    EXPECT_EQ(answered(400, {}, "abort-message").what.what, outcome::permanent);
    EXPECT_FALSE(answered(400, {}, "abort-message").disables);
    EXPECT_EQ(answered(400, {}, "something else").what.what, outcome::transient);
    // One that has taken it has taken it, whatever else it says.
    EXPECT_EQ(answered(200, "5", "disable").what.what, outcome::delivered);
    EXPECT_FALSE(answered(200, "5", "disable").disables);
}

TEST(webhook_verdicts, let_an_endpoint_ask_for_time) {
    for (const auto status : statuses{429, 503}) {
        const auto busy = answered(status, "120");
        EXPECT_EQ(busy.what.what, outcome::throttled);
        EXPECT_EQ(busy.what.retry_after, 120s);
        EXPECT_TRUE(busy.what.code);  // Its lane rests.
        EXPECT_EQ(answered(status, "soon").what.what, outcome::transient);
    }
    EXPECT_EQ(answered(500, "120").what.what, outcome::transient);
}

TEST(webhook_verdicts, tell_a_subscriber_nothing_of_the_network) {
    const guarded_answer refused{.trouble = guarded_trouble::refused,
                                 .for_operator = "10.0.0.7 is not public",
                                 .for_subscriber = "address not allowed"};
    const auto verdict = judge_webhook(refused);
    EXPECT_EQ(verdict.what.what, outcome::transient);
    EXPECT_EQ(verdict.what.error, "10.0.0.7 is not public");
    EXPECT_EQ(verdict.for_subscriber, "address not allowed");
}

TEST(webhook_verdicts, charge_nobody_for_what_is_ours) {
    for (const auto trouble : {guarded_trouble::overloaded, guarded_trouble::cancelled})
        EXPECT_EQ(judge_webhook({.trouble = trouble}).what.what, outcome::unanswered);
    for (const auto trouble : {guarded_trouble::late, guarded_trouble::tls, guarded_trouble::name,
                               guarded_trouble::connect, guarded_trouble::malformed})
        EXPECT_EQ(judge_webhook({.trouble = trouble}).what.what, outcome::transient);
}

TEST(a_delivery, ends_when_it_is_refused_for_good_or_its_retries_are_spent) {
    EXPECT_FALSE(ends_delivery(outcome::transient, 1, 1));
    EXPECT_TRUE(ends_delivery(outcome::transient, 2, 1));
    EXPECT_TRUE(ends_delivery(outcome::transient, 1, 0));
    EXPECT_TRUE(ends_delivery(outcome::permanent, 1, 5));
    // What the endpoint puts off costs no retry, and -1 is as many as there is time for.
    EXPECT_FALSE(ends_delivery(outcome::throttled, 2, 1));
    EXPECT_FALSE(ends_delivery(outcome::transient, 1'000, -1));
    EXPECT_FALSE(ends_delivery(outcome::delivered, 9, 1));
}

}  // namespace
}  // namespace posthorn
