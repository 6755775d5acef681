#include "transport/broker/broker_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

message order() {
    message made;
    made.id = *uuid::parse("018f3b1c-0000-7000-8000-000000000001");
    made.source = "shop";
    made.destination = "stock";
    made.endpoint = "OrderPlaced";
    made.payload = "{}";
    made.tenant = "acme";
    made.order_key = "7";
    return made;
}

TEST(broker_message, fills_names_into_the_address) {
    EXPECT_EQ(fill_address("audit.{endpoint}.{tenant}", order()), "audit.OrderPlaced.acme");
    EXPECT_EQ(fill_address("{destination}-{order_key}-{type}", order()), "stock-7-Signal");
    EXPECT_EQ(fill_address("plain", order()), "plain");
    EXPECT_EQ(fill_address("{open", order()), "{open");
    EXPECT_TRUE(check_address("a.{endpoint}"));
    EXPECT_FALSE(check_address("a.{payload}"));
    EXPECT_FALSE(check_address("a.{endpoint"));
}

TEST(broker_message, carries_what_a_receiver_needs_in_headers) {
    const auto made = to_broker(order(), "{endpoint}");
    EXPECT_EQ(made.id, "018f3b1c-0000-7000-8000-000000000001");
    EXPECT_EQ(made.address, "OrderPlaced");
    EXPECT_EQ(*made.header("RF-Endpoint"), "OrderPlaced");
    EXPECT_EQ(*made.header("rf-source"), "shop");
    EXPECT_EQ(*made.header("rf-order-key"), "7");
    EXPECT_EQ(made.header("rf-parent-id"), nullptr);
}

TEST(broker_message, takes_the_senders_headers_along_but_for_ours_and_those_that_break) {
    auto what = order();
    what.headers =
        R"({"traceparent":"00-a","n":7,"rf-source":"evil","Nats-Msg-Id":"x","a:b":"c","cr":"a\r\nB: c"})";
    const auto made = to_broker(what, "{endpoint}");
    EXPECT_EQ(*made.header("traceparent"), "00-a");
    EXPECT_EQ(*made.header("n"), "7");
    EXPECT_EQ(*made.header("rf-source"), "shop");
    EXPECT_EQ(made.header("Nats-Msg-Id"), nullptr);
    EXPECT_EQ(made.header("a:b"), nullptr);
    EXPECT_EQ(made.header("cr"), nullptr);
}

}  // namespace
}  // namespace posthorn
