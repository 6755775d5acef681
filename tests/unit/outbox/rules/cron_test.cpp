#include "outbox/rules/cron.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

struct next_case {
    std::string claim;
    std::string schedule;
    std::string from;
    std::string next;
};

const std::vector<next_case> next_cases{
    {"every half minute", "*/30 * * * * *", "2026-03-01T10:00:05Z", "2026-03-01T10:00:30Z"},
    {"after the moment itself", "*/30 * * * * *", "2026-03-01T10:00:30Z", "2026-03-01T10:01:00Z"},
    {"a part of a second later", "*/30 * * * * *", "2026-03-01T10:00:30.5Z",
     "2026-03-01T10:01:00Z"},
    {"not yet within the second", "30 * * * * *", "2026-03-01T10:00:29.9Z", "2026-03-01T10:00:30Z"},
    {"over midnight", "0 0 2 * * *", "2026-03-01T02:00:00Z", "2026-03-02T02:00:00Z"},
    {"over the end of a year", "0 0 0 1 1 *", "2026-03-01T02:00:00Z", "2027-01-01T00:00:00Z"},
    {"in a leap year", "0 0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"on weekdays", "0 30 9 * * MON-FRI", "2026-03-06T10:00:00Z", "2026-03-09T09:30:00Z"},
    {"a Sunday is 7 too", "0 0 0 * * 7", "2026-03-06T10:00:00Z", "2026-03-08T00:00:00Z"},
    {"a day that is both", "0 0 0 13 * FRI", "2026-01-01T00:00:00Z", "2026-02-13T00:00:00Z"},
    {"a list with ranges", "0 0 8-10,20 * * *", "2026-03-01T10:30:00Z", "2026-03-01T20:00:00Z"},
    {"a step from a number", "5/20 * * * * *", "2026-03-01T10:00:30Z", "2026-03-01T10:00:45Z"},
    {"a step in a range", "0 10-30/10 * * * *", "2026-03-01T10:31:00Z", "2026-03-01T11:10:00Z"},
    {"names in any case", "0 0 0 1 dec *", "2026-03-01T00:00:00Z", "2026-12-01T00:00:00Z"},
    {"words apart", "  0   0 0 1 12  * ", "2026-03-01T00:00:00Z", "2026-12-01T00:00:00Z"},
    {"the rarest there is", "0 0 0 29 2 SUN", "2088-03-01T00:00:00Z", "2128-02-29T00:00:00Z"},
};

TEST(cron, names_the_next_moment) {
    for (const auto& one : next_cases) {
        SCOPED_TRACE(one.claim);
        const auto read = cron::parse(one.schedule);
        ASSERT_TRUE(read) << read.error().what();
        const auto next = read->next(*parse_iso8601(one.from));
        ASSERT_TRUE(next);
        EXPECT_EQ(to_iso8601(*next), to_iso8601(*parse_iso8601(one.next)));
    }
}

struct refused_case {
    std::string schedule;
    std::string why;
};

const std::vector<refused_case> refused_cases{
    {"", "has 0 fields; write six"},
    {"* * * * *", "has 5 fields; write six"},
    {"* * * * * * *", "has 7 fields; write six"},
    {"60 * * * * *", "the second cannot be '60'; write 0 to 59"},
    {"* 60 * * * *", "the minute cannot be '60'"},
    {"* * 24 * * *", "the hour cannot be '24'"},
    {"* * * 0 * *", "the day cannot be '0'; write 1 to 31"},
    {"* * * * 13 *", "the month cannot be '13'"},
    {"* * * * * 8", "the weekday cannot be '8'"},
    {"* * * * * MONDAY", "the weekday cannot be 'MONDAY'"},
    {"-1 * * * * *", "the second cannot be ''"},
    {"*/0 * * * * *", "a step of seconds cannot be '0'"},
    {"*/x * * * * *", "a step of seconds cannot be 'x'"},
    {"*/ * * * * *", "a step of seconds cannot be ''"},
    {"99999999999999999999 * * * * *", "the second cannot be '99999999999999999999'"},
    {"30-10 * * * * *", "'30-10' ends before it begins"},
    {"1,,2 * * * * *", "the second cannot be ''"},
    {"1, * * * * *", "'1,' ends in a comma"},
    {"1- * * * * *", "the second cannot be ''"},
    {"0 0 0 30 2 *", "names no day that there is"},
    {"0 0 0 31 4,6,9,11 *", "names no day that there is"},
};

TEST(cron, refuses_what_names_no_time) {
    for (const auto& one : refused_cases) {
        SCOPED_TRACE(one.schedule);
        const auto read = cron::parse(one.schedule);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), error_code::invalid_argument);
        EXPECT_THAT(read.error().what(), HasSubstr(one.why));
    }
}

}  // namespace
}  // namespace posthorn
