#include "consume/consume_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using enum consume_verdict::kind;

received_message came() {
    return {.what = {.id = "018f3b1c-0000-7000-8000-000000000001",
                     .address = "orders.placed",
                     .body = R"({"n":1})",
                     .headers = {{"rf-endpoint", "OrderPlaced"}, {"traceparent", "00-a"}}}};
}

consume_rules rules() { return {.source = "orders", .destination = "stock"}; }

TEST(consume_rules, make_a_message_of_what_a_broker_gives) {
    const auto read = read_consumed(came(), rules());
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->id.to_string(), "018f3b1c-0000-7000-8000-000000000001");
    EXPECT_EQ(read->endpoint, "OrderPlaced");
    EXPECT_EQ(read->source, "orders");
    EXPECT_EQ(read->destination, "stock");
    EXPECT_EQ(read->content_type, "application/json");
    EXPECT_EQ(read->headers, R"({"traceparent":"00-a"})");
    EXPECT_EQ(read->type, message_type::signal);
}

TEST(consume_rules, find_the_endpoint_in_a_header_in_the_address_or_in_the_rule) {
    auto with = rules();
    with.endpoint = "address";
    EXPECT_EQ(read_consumed(came(), with)->endpoint, "orders.placed");
    with.endpoint = "Fixed";
    EXPECT_EQ(read_consumed(came(), with)->endpoint, "Fixed");
    with.endpoint = "header:kind";
    const auto none = read_consumed(came(), with);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error(), HasSubstr("no header kind"));
}

TEST(consume_rules, know_a_message_again_by_its_own_id) {
    auto one = came();
    one.what.id = "order-7";
    const auto first = read_consumed(one, rules());
    one.what.body = R"({"n":2})";
    const auto again = read_consumed(one, rules());
    EXPECT_EQ(first->id, again->id);
    one.what.id = "order-8";
    EXPECT_NE(read_consumed(one, rules())->id, first->id);
}

TEST(consume_rules, take_one_without_an_id_for_poison_unless_a_rule_says_how_to_know_it) {
    auto one = came();
    one.what.id.clear();
    const auto none = read_consumed(one, rules());
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error(), HasSubstr("it has no id"));
    auto with = rules();
    with.id = consume_id::hash;
    const auto by_body = read_consumed(one, with);
    ASSERT_TRUE(by_body);
    EXPECT_EQ(by_body->id, read_consumed(one, with)->id);
    with.id = consume_id::offset;
    EXPECT_FALSE(read_consumed(one, with));
    one.offset = "ORDERS/7";
    const auto by_offset = read_consumed(one, with);
    one.offset = "ORDERS/8";
    EXPECT_NE(by_offset->id, read_consumed(one, with)->id);
}

TEST(consume_rules, take_bytes_for_what_they_are) {
    auto one = came();
    one.what.body = "\xff\x00";
    EXPECT_EQ(read_consumed(one, rules())->content_type, "application/octet-stream");
    one.what.content_type = "application/json";
    const auto read = read_consumed(one, rules());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error(), HasSubstr("invalid_payload"));
}

TEST(consume_rules, say_what_becomes_of_a_message) {
    const consume_patience patience{.tries_max = 3, .pause_min = 100ms, .pause_max = 1s};
    const auto judged = [&](delivery answer, std::uint32_t tries) {
        return judge_consumed(answer, tries, patience);
    };
    EXPECT_EQ(judged({.what = outcome::delivered}, 9), consume_verdict{acknowledge});
    EXPECT_EQ(judged({.what = outcome::transient, .duplicate = true}, 9),
              consume_verdict{acknowledge});
    EXPECT_EQ(judged({.what = outcome::permanent}, 0), consume_verdict{put_aside});
    EXPECT_EQ(judged({.what = outcome::transient}, 0), (consume_verdict{again, true, 100ms}));
    EXPECT_EQ(judged({.what = outcome::transient}, 1), (consume_verdict{again, true, 200ms}));
    EXPECT_EQ(judged({.what = outcome::transient}, 2), consume_verdict{put_aside});
    EXPECT_EQ(judged({.what = outcome::undeliverable}, 2), consume_verdict{put_aside});
    EXPECT_EQ(judged({.what = outcome::throttled, .retry_after = 5s}, 9),
              (consume_verdict{again, false, 1s}));
    EXPECT_EQ(judged({.what = outcome::unanswered}, 9), (consume_verdict{again, false, 100ms}));
}

TEST(consume_rules, make_pauses_longer_up_to_the_longest_however_often) {
    const consume_patience patience{.tries_max = 1'000, .pause_min = 100ms, .pause_max = 1s};
    for (const std::uint32_t tries : {5U, 40U, 900U})
        EXPECT_EQ(judge_consumed({.what = outcome::transient}, tries, patience).pause, 1s);
}

}  // namespace
}  // namespace posthorn
