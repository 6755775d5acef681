#include "webhook/subscription.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

subscription good() {
    subscription one;
    one.url = "https://shop.example/hook";
    return one;
}

TEST(event_types, are_covered_by_themselves_by_their_beginning_and_by_a_star) {
    EXPECT_TRUE(covers("order.paid", "order.paid"));
    EXPECT_TRUE(covers("order.*", "order.paid"));
    EXPECT_TRUE(covers("order.*", "order.line.added"));
    EXPECT_TRUE(covers("*", "anything"));
    EXPECT_FALSE(covers("order.paid", "order.paid.late"));
    EXPECT_FALSE(covers("order.*", "order"));
    EXPECT_FALSE(covers("order.*", "orders.paid"));
    EXPECT_FALSE(covers("Order.paid", "order.paid"));
}

TEST(subscription_lanes, are_told_from_other_destinations) {
    const auto id = uuid::parse("018f3b1c-0000-7000-8000-000000000001").value();
    EXPECT_EQ(subscription_of(destination_of(id)), id);
    EXPECT_FALSE(subscription_of("webhooks"));
    EXPECT_FALSE(subscription_of("webhook:7"));
    EXPECT_FALSE(subscription_of("billing"));
}

TEST(payload_filter, wants_events_whose_every_pointer_leads_to_one_of_its_values) {
    const auto filter = payload_filter::parse(R"({"/data/country":["DE","AT"],"/data/n":[1]})");
    ASSERT_TRUE(filter);
    const auto wants = [&](const char* envelope) {
        return filter->wants(boost::json::parse(envelope));
    };
    EXPECT_TRUE(wants(R"({"data":{"country":"AT","n":1}})"));
    EXPECT_FALSE(wants(R"({"data":{"country":"AT","n":2}})"));
    EXPECT_FALSE(wants(R"({"data":{"country":"FR","n":1}})"));
    EXPECT_FALSE(wants(R"({"data":{"n":1}})"));
    EXPECT_FALSE(wants(R"({"data":null})"));
    EXPECT_FALSE(wants(R"({"data":[1,2]})"));
}

TEST(payload_filter, says_what_is_wrong_with_it) {
    const auto wrong = [](const char* text) { return payload_filter::parse(text).error(); };
    EXPECT_THAT(wrong("[]").what(), HasSubstr("not a JSON object"));
    EXPECT_THAT(wrong("{").what(), HasSubstr("not a JSON object"));
    EXPECT_THAT(wrong(R"({"country":["DE"]})").what(), HasSubstr("not a JSON pointer"));
    EXPECT_THAT(wrong(R"({"/data":"DE"})").what(), HasSubstr("a list of 1 to 64 values"));
    EXPECT_THAT(wrong(R"({"/data":[]})").what(), HasSubstr("a list of 1 to 64 values"));
    EXPECT_FALSE(payload_filter::parse("")->asks());
}

TEST(subscriptions, are_checked_before_they_are_stored) {
    EXPECT_TRUE(check(good(), false));
    const auto wrong = [](auto change) {
        auto one = good();
        change(one);
        const auto checked = check(one, false);
        return checked ? std::string("nothing") : std::string(checked.error().what());
    };
    EXPECT_THAT(wrong([](auto& one) { one.url = "http://shop.example/"; }), HasSubstr("https://"));
    EXPECT_THAT(wrong([](auto& one) { one.url = "shop"; }), HasSubstr("https://"));
    EXPECT_THAT(wrong([](auto& one) { one.url += std::string(2048, 'a'); }), HasSubstr("2048"));
    EXPECT_THAT(wrong([](auto& one) { one.event_type = ""; }), HasSubstr("order.paid"));
    EXPECT_THAT(wrong([](auto& one) { one.event_type = "a*b"; }), HasSubstr("order.paid"));
    EXPECT_THAT(wrong([](auto& one) { one.event_type = "a\r\nb"; }), HasSubstr("order.paid"));
    EXPECT_THAT(wrong([](auto& one) { one.max_retries = -1; }), HasSubstr("0 to 50"));
    EXPECT_THAT(wrong([](auto& one) { one.timeout = std::chrono::seconds{0}; }),
                HasSubstr("1 to 120"));
    EXPECT_THAT(wrong([](auto& one) { one.headers = R"({"Host":"a"})"; }), HasSubstr("Host"));
    EXPECT_THAT(wrong([](auto& one) { one.headers = R"({"X-A":"b\r\nX-C: d"})"; }),
                HasSubstr("X-A"));
    EXPECT_THAT(wrong([](auto& one) { one.headers = R"({"webhook-id":"a"})"; }),
                HasSubstr("webhook-id"));
    EXPECT_THAT(wrong([](auto& one) { one.filter = "{"; }), HasSubstr("filter"));
    auto plain = good();
    plain.url = "http://shop.example/";
    EXPECT_TRUE(check(plain, true));
}

}  // namespace
}  // namespace posthorn
