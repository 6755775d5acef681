#include "operations/replay_operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

constexpr wall_time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 19);

std::string refusal_of(std::string_view query) {
    const auto asked = parse_replay_query(query, now);
    return asked ? "" : asked.error().what();
}

TEST(replay_query, is_from_a_moment_until_now_or_another) {
    const auto short_one = parse_replay_query("since=2026-11-18T12:00:00Z", now);
    ASSERT_TRUE(short_one) << short_one.error().what();
    EXPECT_EQ(short_one->until, now);
    EXPECT_EQ(short_one->destination, "");
    EXPECT_FALSE(short_one->of_inbox);
    const auto long_one = parse_replay_query(
        "since=2026-11-17T12:00:00Z&until=2026-11-18T12:00:00.500Z&destination=stock&database=inbox"
        "&after=1771070400000.42",
        now);
    ASSERT_TRUE(long_one) << long_one.error().what();
    EXPECT_EQ(to_iso8601(long_one->since), "2026-11-17T12:00:00.000Z");
    EXPECT_EQ(to_iso8601(long_one->until), "2026-11-18T12:00:00.500Z");
    EXPECT_EQ(long_one->destination, "stock");
    EXPECT_EQ(long_one->after, "1771070400000.42");
    EXPECT_TRUE(long_one->of_inbox);
}

TEST(replay_query, names_what_is_missing_unknown_or_wrong) {
    EXPECT_THAT(refusal_of(""), HasSubstr("say since when"));
    const std::string since = "since=2026-11-18T12:00:00Z";
    EXPECT_THAT(refusal_of(since + "&after=1.2"), HasSubstr("give until"));
    EXPECT_THAT(refusal_of(since + "&payload=true"), HasSubstr("'payload' cannot be asked for"));
    EXPECT_THAT(refusal_of(since + "&destination="), HasSubstr("name one, or leave it out"));
    EXPECT_THAT(refusal_of(since + "&database=other"), HasSubstr("main and inbox"));
    EXPECT_THAT(refusal_of(since + "&until=2026-11-18T12:00:00Z"), HasSubstr("nothing lies"));
    EXPECT_THAT(refusal_of("since=noon"), HasSubstr("since is 'noon'"));
    for (const auto* const place : {"", "1", "1.", ".1", "1.2x", "x.2", "1.2.3", "1 .2",
                                    "99999999999999999999.1", "1.99999999999999999999"})
        EXPECT_THAT(refusal_of(since + "&until=2026-11-18T13:00:00Z&after=" + place),
                    HasSubstr("next of the slice before"))
            << place;
}

}  // namespace
}  // namespace posthorn
