#include "base/time/time_range.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr wall_time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 19);

std::string why_not(const time_range& asked) {
    const auto checked = check_times(asked, now);
    if (checked) return "";
    EXPECT_EQ(checked.error().code(), error_code::invalid_argument);
    return checked.error().what();
}

TEST(read_time, takes_a_moment_with_its_offset) {
    std::optional<wall_time> time;
    EXPECT_TRUE(read_time("until", "2026-11-19T01:00:00+01:00", time));
    EXPECT_EQ(time, now);
}

TEST(read_time, says_of_what_cannot_be_read_whose_it_is_and_how_to_write_it) {
    for (const auto* const wrong :
         {"", "noon", "2026-11-19", "2026-11-19 00:00:00Z", "1763510400", "2026-02-30T00:00:00Z",
          "10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"}) {
        std::optional<wall_time> time;
        const auto read = read_time("until", wrong, time);
        ASSERT_FALSE(read) << wrong;
        EXPECT_EQ(read.error().code(), error_code::invalid_argument);
        EXPECT_EQ(std::string(read.error().what()),
                  std::string("until is '") + wrong + "'; give a time like 2026-02-14T12:00:00Z");
    }
    std::optional<wall_time> time;
    EXPECT_THAT(read_time("since", "\xff", time).error().what(), Not(HasSubstr("\xff")));
    EXPECT_LT(std::string(read_time("since", std::string(9'000, 'x'), time).error().what()).size(),
              200U);
}

TEST(check_times, lets_through_all_that_something_may_lie_in) {
    EXPECT_EQ(why_not({}), "");
    EXPECT_EQ(why_not({.since = now}), "");
    EXPECT_EQ(why_not({.until = now}), "");
    EXPECT_EQ(why_not({.since = wall_time{}, .until = now + 366 * 24h}), "");
    EXPECT_EQ(why_not({.since = now - 1ms, .until = now}), "");
}

TEST(check_times, refuses_times_that_are_the_wrong_way_round) {
    EXPECT_EQ(why_not({.since = now, .until = now - 1h}),
              "since (2026-11-19T00:00:00.000Z) is not before until (2026-11-18T23:00:00.000Z), so "
              "nothing lies between; give an earlier since, or a later until");
    EXPECT_THAT(why_not({.since = now, .until = now}), HasSubstr("so nothing lies between"));
}

TEST(check_times, refuses_what_is_far_off_for_a_slip_of_the_hand) {
    EXPECT_EQ(why_not({.until = now + 366 * 24h + 1ms}),
              "until is 2027-11-20T00:00:00.001Z, more than a year from now "
              "(2026-11-19T00:00:00.000Z); give an earlier time, or leave it out");
    EXPECT_THAT(why_not({.since = now + 400 * 24h}), HasSubstr("since is 2027-12-24"));
    EXPECT_EQ(
        why_not({.since = wall_time{} - 1ms}),
        "since is 1969-12-31T23:59:59.999Z, which is before 1970; give a later time, or leave "
        "it out");
    EXPECT_THAT(why_not({.until = wall_time{} - 1ms}), HasSubstr("until is 1969"));
}

}  // namespace
}  // namespace posthorn
