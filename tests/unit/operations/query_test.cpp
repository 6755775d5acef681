#include "operations/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

constexpr wall_time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 19);

result<list_query> parse(std::string_view query) { return parse_list_query(query, now); }

TEST(list_query, reads_every_field) {
    const auto asked = parse(
        "status=Dead&destination=a%20b&endpoint=x&since=2026-02-14T12:00:00Z"
        "&until=2026-02-14T13:30:00%2B01:00&before=7&limit=9&database=inbox&orderKey=acct-7&tenant="
        "acme&correlationId=c9"
        "&causationId=m1&error=no%20route");
    ASSERT_TRUE(asked) << asked.error().what();
    EXPECT_EQ(asked->status, outbox_status::dead);
    EXPECT_EQ(asked->destination, "a b");
    EXPECT_EQ(asked->endpoint, "x");
    EXPECT_EQ(asked->order_key, "acct-7");
    EXPECT_EQ(asked->tenant, "acme");
    EXPECT_EQ(asked->correlation_id, "c9");
    EXPECT_EQ(asked->causation_id, "m1");
    EXPECT_EQ(asked->error, "no route");
    EXPECT_EQ(asked->since, parse_iso8601("2026-02-14T12:00:00Z"));
    EXPECT_EQ(asked->until, parse_iso8601("2026-02-14T12:30:00Z"));
    EXPECT_EQ(asked->before, 7);
    EXPECT_EQ(asked->limit, 9U);
    EXPECT_TRUE(asked->of_inbox);
}

TEST(list_query, asks_for_the_first_hundred_unless_told) {
    const auto asked = parse("");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->limit, 100U);
    EXPECT_FALSE(asked->status || asked->since || asked->until || asked->of_inbox);
}

TEST(list_query, says_what_is_wrong) {
    for (const auto* wrong :
         {"limit=0", "limit=1001", "limit=-1", "limit=1x", "limit=", "limit", "before=abc",
          "before=99999999999999999999", "status=dead", "since=yesterday",
          "until=", "until=2026-02-30T00:00:00Z", "until=9999-01-01T00:00:00Z", "database=other",
          "colour=red", "destination=%zz"}) {
        const auto asked = parse(wrong);
        ASSERT_FALSE(asked) << wrong;
        EXPECT_EQ(asked.error().code(), error_code::invalid_argument);
    }
    EXPECT_TRUE(parse("limit=1000"));
}

TEST(list_query, says_that_nothing_lies_between_times_that_are_the_wrong_way_round) {
    const auto wrong = parse("until=2026-02-14T12:00:00Z&since=2026-02-14T13:00:00Z");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().what(),
                HasSubstr("since (2026-02-14T13:00:00.000Z) is not before until "
                          "(2026-02-14T12:00:00.000Z), so nothing lies between"));
}

TEST(inbox_query, reads_what_the_inbox_can_be_asked_for) {
    const auto asked = parse_inbox_query(
        "source=shop&before=7&limit=9&endpoint=Ship&state=at%20work"
        "&messageId=01890a5d-ac96-774b-bcce-b302099a8057&since=2026-02-14T12:00:00Z"
        "&until=2026-02-14T13:00:00Z",
        now);
    ASSERT_TRUE(asked) << asked.error().what();
    EXPECT_EQ(asked->source, "shop");
    EXPECT_EQ(asked->endpoint, "Ship");
    EXPECT_EQ(asked->message_id, uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057"));
    EXPECT_EQ(asked->processed, false);
    EXPECT_EQ(asked->since, parse_iso8601("2026-02-14T12:00:00Z"));
    EXPECT_EQ(asked->until, parse_iso8601("2026-02-14T13:00:00Z"));
    EXPECT_EQ(asked->before, 7);
    EXPECT_EQ(asked->limit, 9U);
    EXPECT_EQ(parse_inbox_query("state=processed", now)->processed, true);
    const auto plain = parse_inbox_query("", now);
    EXPECT_EQ(plain->limit, 100U);
    EXPECT_FALSE(plain->processed || plain->since || plain->until || plain->message_id);
}

TEST(failed_query, reads_what_is_known_of_what_was_not_taken_in) {
    const auto asked = parse_failed_query(
        "source=shop&endpoint=Ship&error=no%20paper"
        "&messageId=01890a5d-ac96-774b-bcce-b302099a8057");
    ASSERT_TRUE(asked) << asked.error().what();
    EXPECT_EQ(asked->source, "shop");
    EXPECT_EQ(asked->endpoint, "Ship");
    EXPECT_EQ(asked->error, "no paper");
    EXPECT_TRUE(asked->message_id);
    for (const auto* const wrong : {"limit=1", "state=processed", "messageId=x", "a=1"})
        EXPECT_EQ(parse_failed_query(wrong).error().code(), error_code::invalid_argument) << wrong;
}

TEST(queries, refuse_what_their_list_does_not_look_at) {
    EXPECT_THAT(parse("source=shop").error().what(), HasSubstr("'source' cannot be asked for"));
    for (const auto* const wrong :
         {"since=noon", "status=Dead", "limit=1001", "before=0", "destination=stock", "source=%zz",
          "state=dead", "messageId=7", "since=2026-02-14T12:00:00Z&until=2026-02-14T12:00:00Z"})
        EXPECT_FALSE(parse_inbox_query(wrong, now)) << wrong;
    EXPECT_THAT(parse_inbox_query("error=x", now).error().what(),
                HasSubstr("'error' cannot be asked for of what was taken in; use source"));
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
