#include <limits>

#include <gtest/gtest.h>

#include <posthorn/detail/time.hpp>

namespace posthorn {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;

constexpr wall_time noon = sys_days(2026y / February / 14) + 12h;

TEST(time_text, writes_utc_with_milliseconds) {
    EXPECT_EQ(to_iso8601(noon + 123ms), "2026-02-14T12:00:00.123Z");
    EXPECT_EQ(to_iso8601(wall_time()), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_iso8601(sys_days(2024y / February / 29) + 23h + 59min + 58s + 7ms),
              "2024-02-29T23:59:58.007Z");
}

TEST(time_text, writes_times_before_1970) {
    EXPECT_EQ(to_iso8601(wall_time(-1ms)), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(to_iso8601(sys_days(1y / January / 1)), "0001-01-01T00:00:00.000Z");
}

TEST(time_text, shows_times_that_four_digits_cannot_name_as_the_nearest) {
    EXPECT_EQ(to_iso8601(wall_time(milliseconds::max())), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(to_iso8601(wall_time(milliseconds::min())), "0001-01-01T00:00:00.000Z");
    EXPECT_EQ(to_iso8601(sys_days(10000y / January / 1)), "9999-12-31T23:59:59.999Z");
}

TEST(time_text, reads_what_it_writes) {
    for (const wall_time time :
         {wall_time(), noon + 1ms, wall_time(-1ms), wall_time(sys_days(1y / January / 1)),
          wall_time(sys_days(9999y / December / 31) + 24h - 1ms)})
        EXPECT_EQ(parse_iso8601(to_iso8601(time)), time) << to_iso8601(time);
}

TEST(time_text, reads_every_accepted_form) {
    struct {
        const char* text;
        wall_time time;
    } const cases[] = {
        {"2026-02-14T12:00:00Z", noon},
        {"2026-02-14T12:00:00+00:00", noon},
        {"2026-02-14T12:00:00-00:00", noon},
        {"2026-02-14T13:30:00+01:30", noon},
        {"2026-02-14T06:15:00-05:45", noon},
        {"2026-02-15T11:59:00+23:59", noon},
        {"2026-02-14T12:00:00.5Z", noon + 500ms},
        {"2026-02-14T12:00:00.05Z", noon + 50ms},
        {"2026-02-14T12:00:00.005Z", noon + 5ms},
        {"2026-02-14T12:00:00.0059Z", noon + 5ms},
        {"2026-02-14T12:00:00.123456789+01:00", noon - 1h + 123ms},
        {"1969-12-31T23:59:59.9999Z", wall_time(-1ms)},
        {"2024-02-29T00:00:00Z", sys_days(2024y / February / 29)},
        {"2000-02-29T00:00:00Z", sys_days(2000y / February / 29)},
        {"0001-01-01T01:00:00+01:00", sys_days(1y / January / 1)},
    };
    for (const auto& [text, time] : cases) EXPECT_EQ(parse_iso8601(text), time) << text;
}

TEST(time_text, rejects_days_and_hours_that_do_not_exist) {
    for (const char* text :
         {"2026-02-30T12:00:00Z", "2026-02-29T12:00:00Z", "1900-02-29T12:00:00Z",
          "2026-04-31T12:00:00Z", "2026-00-14T12:00:00Z", "2026-13-14T12:00:00Z",
          "2026-02-00T12:00:00Z", "2026-01-32T12:00:00Z", "2026-02-14T24:00:00Z",
          "2026-02-14T12:60:00Z", "2026-02-14T12:00:60Z", "2016-12-31T23:59:60Z",
          "2026-02-14T12:00:00+24:00", "2026-02-14T12:00:00+01:60", "0000-01-01T00:00:00Z",
          "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"})
        EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
}

TEST(time_text, rejects_other_ways_of_writing) {
    for (const char* text : {"",
                             "Z",
                             "2026",
                             "2026-02-14",
                             "2026-02-14T12:00Z",
                             "2026-02-14T12:00:00",
                             "2026-02-14 12:00:00Z",
                             "2026-02-14t12:00:00Z",
                             "2026-02-14T12:00:00z",
                             "20260214T120000Z",
                             "2026-2-14T12:00:00Z",
                             "2026-02-14T1:00:00Z",
                             "2026/02/14T12:00:00Z",
                             "2026-02-14T12.00.00Z",
                             "+2026-02-14T12:00:00Z",
                             "-2026-02-14T12:00:00Z",
                             "12026-02-14T12:00:00Z",
                             "2026-02-14T12:00:00+0100",
                             "2026-02-14T12:00:00+01",
                             "2026-02-14T12:00:00+1:00",
                             "2026-02-14T12:00:00 +01:00",
                             "2026-02-14T12:00:00UTC",
                             "2026-02-14T12:00:+1Z",
                             "2026-02-14T12:00: 1Z"})
        EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
}

TEST(time_text, rejects_fractions_of_no_or_too_many_digits) {
    for (const char* text :
         {"2026-02-14T12:00:00.Z", "2026-02-14T12:00:00.", "2026-02-14T12:00:00,5Z",
          "2026-02-14T12:00:00.1234567890Z", "2026-02-14T12:00:00.1.2Z", "2026-02-14T12:00:00.-5Z",
          "2026-02-14T12:00:00.5"})
        EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
}

TEST(time_text, rejects_anything_before_or_after) {
    for (const std::string_view text :
         {std::string_view("2026-02-14T12:00:00Z "), std::string_view(" 2026-02-14T12:00:00Z"),
          std::string_view("2026-02-14T12:00:00ZZ"), std::string_view("2026-02-14T12:00:00+01:00Z"),
          std::string_view("2026-02-14T12:00:00Z\n"),
          std::string_view("2026-02-14T12:00:00Z\0", 21)})
        EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
}

TEST(time_text, rejects_every_beginning_of_a_good_text) {
    const std::string_view text = "2026-02-14T12:00:00.123+01:00";
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_EQ(parse_iso8601(text.substr(0, size)), std::nullopt) << text.substr(0, size);
}

}  // namespace
}  // namespace posthorn
