#include "operations/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(list_query, reads_every_field) {
    const auto asked = parse_list_query(
        "status=Dead&destination=a%20b&endpoint=x&source=shop&since=2026-02-14T12:00:00Z&before=7"
        "&limit=9&database=inbox&orderKey=acct-7&tenant=acme&correlationId=c9"
        "&causationId=m1&error=no%20route");
    ASSERT_TRUE(asked) << asked.error().what();
    EXPECT_EQ(asked->status, outbox_status::dead);
    EXPECT_EQ(asked->destination, "a b");
    EXPECT_EQ(asked->endpoint, "x");
    EXPECT_EQ(asked->source, "shop");
    EXPECT_EQ(asked->order_key, "acct-7");
    EXPECT_EQ(asked->tenant, "acme");
    EXPECT_EQ(asked->correlation_id, "c9");
    EXPECT_EQ(asked->causation_id, "m1");
    EXPECT_EQ(asked->error, "no route");
    EXPECT_EQ(asked->since, parse_iso8601("2026-02-14T12:00:00Z"));
    EXPECT_EQ(asked->before, 7);
    EXPECT_EQ(asked->limit, 9U);
    EXPECT_TRUE(asked->of_inbox);
}

TEST(list_query, asks_for_the_first_hundred_unless_told) {
    const auto asked = parse_list_query("");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->limit, 100U);
    EXPECT_FALSE(asked->status || asked->since || asked->of_inbox);
}

TEST(list_query, says_what_is_wrong) {
    for (const auto* wrong :
         {"limit=0", "limit=1001", "limit=-1", "limit=1x", "limit=", "limit", "before=abc",
          "before=99999999999999999999", "status=dead", "since=yesterday", "database=other",
          "colour=red", "destination=%zz"}) {
        const auto asked = parse_list_query(wrong);
        ASSERT_FALSE(asked) << wrong;
        EXPECT_EQ(asked.error().code(), error_code::invalid_argument);
    }
    EXPECT_TRUE(parse_list_query("limit=1000"));
}

TEST(show_query, asks_for_the_payload_in_one_way_only) {
    EXPECT_EQ(parse_show_query(""), false);
    EXPECT_EQ(parse_show_query("payload=false"), false);
    EXPECT_EQ(parse_show_query("payload=true"), true);
    EXPECT_FALSE(parse_show_query("payload=1"));
    EXPECT_FALSE(parse_show_query("payloads=true"));
}

}  // namespace
}  // namespace posthorn
