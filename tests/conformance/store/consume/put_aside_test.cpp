// What brokers gave and what took no effect, on every database.
#include "conformance/store/consume/put_aside_store.hpp"

namespace posthorn::conformance {
namespace {

received_message strange() {
    return {.what = {.id = "order-7",
                     .address = "orders.placed",
                     .body = std::string("\x00\xff{", 3),
                     .content_type = "text/odd",
                     .correlation_id = "c",
                     .created_seconds = 1'700'000'000,
                     .headers = {{"rf-endpoint", "OrderPlaced"}, {"bytes", "a\xff"}}},
            .tag = 3,
            .deliveries = 4,
            .offset = "ORDERS/9"};
}

TEST_P(put_aside_store, keeps_every_byte_of_the_payload_and_what_came_with_it) {
    put(strange());
    const auto listed = page();
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0].message_id, "order-7");
    EXPECT_EQ(listed[0].endpoint, "OrderPlaced");
    EXPECT_EQ(listed[0].reason, "no handler");
    EXPECT_EQ(listed[0].payload_size, 3);
    const auto kept = whole(listed[0].seq).whole.value();
    EXPECT_EQ(kept.what.body, strange().what.body);
    EXPECT_EQ(kept.what.id, "order-7");
    EXPECT_EQ(kept.what.content_type, "text/odd");
    EXPECT_EQ(kept.what.created_seconds, 1'700'000'000);
    EXPECT_EQ(*kept.what.header("rf-endpoint"), "OrderPlaced");
    EXPECT_EQ(kept.offset, "ORDERS/9");
    EXPECT_EQ(kept.deliveries, 4U);
}

TEST_P(put_aside_store, has_one_row_of_a_message_that_the_broker_gives_again) {
    put(strange());
    auto again = strange();
    again.deliveries = 5;
    again.offset = "ORDERS/10";
    put(again);
    EXPECT_EQ(page().size(), 1U);
    again.what.body = "another";
    put(again);
    put(strange(), "elsewhere");
    EXPECT_EQ(page().size(), 3U);
}

TEST_P(put_aside_store, tells_messages_apart_by_headers_but_for_those_of_the_broker) {
    put(strange());
    auto again = strange();
    again.what.headers.emplace_back("x-delivery-count", "2");
    put(again);
    EXPECT_EQ(page().size(), 1U);
    again.what.headers.emplace_back("sender", "another");
    put(again);
    EXPECT_EQ(page().size(), 2U);
}

TEST_P(put_aside_store, keeps_each_of_those_that_nothing_tells_apart) {
    auto one = strange();
    one.what.id.clear();
    put(one);
    put(one);
    EXPECT_EQ(page().size(), 1U) << "it has a place in a log";
    one.offset.clear();
    put(one);
    one.tag = 4;
    put(one);
    EXPECT_EQ(page().size(), 3U);
}

TEST_P(put_aside_store, lists_by_source_and_in_pages_and_forgets_once) {
    for (int n = 0; n < 5; ++n) {
        auto one = strange();
        one.what.id = std::to_string(n);
        put(one, n % 2 == 0 ? "even" : "odd");
    }
    EXPECT_EQ(page({.source = "even"}).size(), 3U);
    const auto first = page({.limit = 2});
    EXPECT_EQ(page({.after = first.back().seq}).size(), 3U);
    const auto forget = [&] {
        return write<bool>(
            [&](store_transaction& tx) { return forget_put_aside(tx, first.front().seq); });
    };
    EXPECT_TRUE(forget());
    EXPECT_FALSE(forget());
    const auto counted = look<std::vector<std::pair<std::string, std::int64_t>>>(
        [](store_reader& from) { return count_put_aside(from); });
    EXPECT_EQ(counted,
              (std::vector<std::pair<std::string, std::int64_t>>{{"even", 2}, {"odd", 2}}));
}

}  // namespace
}  // namespace posthorn::conformance
