#include "inbox/horizon.hpp"

#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time now{500'000h};

struct keep_case {
    std::string name;
    wall_time expires_at;
    std::chrono::milliseconds retention;
    wall_time expected;
};

void PrintTo(const keep_case& one, std::ostream* out) { *out << one.name; }

class keep_table : public testing::TestWithParam<keep_case> {};

TEST_P(keep_table, says_how_long_a_row_lives) {
    const auto& [name, expires_at, retention, expected] = GetParam();
    EXPECT_EQ(keep_until(expires_at, now, {.retention = retention}), expected);
}

INSTANTIATE_TEST_SUITE_P(
    all, keep_table,
    testing::Values(keep_case{"at_least_two_days", now + 24h, 0ms, now + 48h},
                    keep_case{"the_expiry_and_an_hour", now + 72h, 0ms, now + 73h},
                    keep_case{"just_past_two_days", now + 47h + 1ms, 0ms, now + 48h + 1ms},
                    keep_case{"retention_lengthens", now + 24h, 100h, now + 100h},
                    keep_case{"retention_never_shortens", now + 72h, 1h, now + 73h},
                    keep_case{"no_expiry", no_expiry, 0ms, now + 48h},
                    keep_case{"the_longest_life", now + message_life_max, 0ms,
                              now + message_life_max + 1h},
                    keep_case{"made_by_a_clock_a_day_ahead", now + 24h + message_life_max, 0ms,
                              now + 24h + message_life_max + 1h},
                    keep_case{"made_in_the_year_9999", wall_time{70'389'500h}, 0ms,
                              now + message_life_max + 48h},
                    keep_case{"retention_lengthens_the_longest_life", wall_time{70'389'500h}, 100h,
                              now + message_life_max + 100h},
                    keep_case{"end_of_time", wall_time::max(), 0ms, now + message_life_max + 48h}),
    [](const auto& info) { return info.param.name; });

TEST(horizon, heeds_no_expiry_that_is_years_after_the_message_was_made) {
    EXPECT_EQ(heeded_expiry(now, now + 24h), now + 24h);
    EXPECT_EQ(heeded_expiry(now, no_expiry), no_expiry);
    EXPECT_EQ(heeded_expiry(now, wall_time::max()), now + message_life_max);
    EXPECT_EQ(heeded_expiry(wall_time::max(), wall_time::max()), wall_time::max());
    EXPECT_EQ(heeded_expiry({}, now + 24h), now + 24h)
        << "the sender does not say when it was made";
}

struct past_case {
    std::string name;
    wall_time expires_at;
    wall_time now;
    bool expected;
};

void PrintTo(const past_case& one, std::ostream* out) { *out << one.name; }

class past_table : public testing::TestWithParam<past_case> {};

TEST_P(past_table, tells_what_is_past_the_horizon) {
    EXPECT_EQ(is_past_horizon(GetParam().expires_at, GetParam().now), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    all, past_table,
    testing::Values(past_case{"before_its_expiry", now + 1ms, now, false},
                    past_case{"at_its_expiry", now, now, true},
                    past_case{"after_its_expiry", now, now + 1ms, true},
                    past_case{"clock_ten_years_ahead", now + 24h, now + 87'600h, true},
                    past_case{"clock_ten_years_back", now + 24h, now - 87'600h, false},
                    past_case{"no_expiry", no_expiry, now, false},
                    past_case{"expired_long_before", wall_time{1ms}, now, true}),
    [](const auto& info) { return info.param.name; });

TEST(horizon, a_row_outlives_every_moment_at_which_its_message_would_be_new) {
    for (const auto life : {1ms, 5'000ms, 86'400'000ms, 900'000'000ms}) {
        const auto expires_at = now + life;
        const auto gone = keep_until(expires_at, now, {});
        EXPECT_TRUE(is_past_horizon(expires_at, gone));
        EXPECT_TRUE(is_past_horizon(expires_at, gone - 1h));
    }
}

}  // namespace
}  // namespace posthorn
