#include "outbox/rules/retry_policy.hpp"

#include <limits>

#include <gtest/gtest.h>

#include <posthorn/message.hpp>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr double almost_one = 1 - 0x1.0p-53;

TEST(retry_policy, by_default_doubles_from_two_seconds_to_five_minutes) {
    const retry_policy policy;
    const milliseconds expected[] = {2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s};
    std::int32_t attempts = 0;
    for (const auto delay : expected) EXPECT_EQ(policy.delay(++attempts, "", 0), delay);
}

TEST(retry_policy, adds_up_to_half_a_second_of_jitter_by_default) {
    const retry_policy policy;
    EXPECT_EQ(policy.delay(1, "", 0.5), 2250ms);
    EXPECT_EQ(policy.delay(1, "", almost_one), 2499ms);
    EXPECT_EQ(policy.delay(9, "", almost_one), 300'499ms);
}

TEST(retry_policy, spreads_proportional_jitter_to_both_sides) {
    const retry_policy policy(
        exponential_backoff{.base = 5s, .max = 5min, .jitter_max = 0ms, .jitter_factor = 0.2});
    struct {
        std::int32_t attempts;
        double unit;
        milliseconds expected;
    } const rows[] = {{1, 0, 4s}, {1, 0.5, 5s}, {1, 0.75, 5500ms}, {2, 0, 8s}, {10, 0, 4min}};
    for (const auto& row : rows)
        EXPECT_EQ(policy.delay(row.attempts, "", row.unit), row.expected) << row.attempts;
}

TEST(retry_policy, takes_a_factor_that_is_no_number_for_none) {
    const retry_policy policy(exponential_backoff{
        .jitter_max = 0ms, .jitter_factor = std::numeric_limits<double>::quiet_NaN()});
    EXPECT_EQ(policy.delay(1, "", almost_one), 2s);
}

TEST(retry_policy, does_not_overflow_whatever_it_is_given) {
    constexpr auto huge = milliseconds::max();
    constexpr auto many = std::numeric_limits<std::int32_t>::max();
    const retry_policy policy(
        exponential_backoff{.base = huge, .max = huge, .jitter_max = huge, .jitter_factor = 1e300});
    const auto ten_years = std::chrono::hours{24 * 365 * 10};
    EXPECT_EQ(policy.delay(many, "", almost_one), ten_years);
    EXPECT_EQ(retry_policy(exponential_backoff{.base = 1ms, .max = huge}).delay(many, "", 0),
              ten_years);
    EXPECT_EQ(retry_policy(exponential_backoff{.base = 0ms}).delay(many, "", 0), 0ms);
    EXPECT_EQ(retry_policy(fixed_backoff{milliseconds::min()}).delay(1, "", 0), 0ms);
}

TEST(retry_policy, a_base_above_the_maximum_is_the_maximum) {
    const retry_policy policy(exponential_backoff{.base = 10min, .max = 1min, .jitter_max = 0ms});
    EXPECT_EQ(policy.delay(1, "", 0), 1min);
}

TEST(retry_policy, fixed_waits_the_same_each_time) {
    const retry_policy policy(fixed_backoff{7s});
    EXPECT_EQ(policy.delay(1, "", 0), 7s);
    EXPECT_EQ(policy.delay(100, "", almost_one), 7s);
}

TEST(retry_policy, custom_sees_attempts_and_error_and_may_give_up) {
    const retry_policy policy(custom_backoff([](std::int32_t attempts, std::string_view error) {
        return error == "hopeless" ? std::nullopt : std::optional(attempts * 1s);
    }));
    EXPECT_EQ(policy.delay(3, "slow", 0), 3s);
    EXPECT_EQ(policy.delay(3, "hopeless", 0), std::nullopt);
}

TEST(retry_policy, max_retries_counts_retries_not_sends) {
    struct {
        std::int32_t attempts;
        std::int32_t max_retries;
        bool expected;
    } const rows[] = {{1, 0, false},
                      {1, 1, true},
                      {5, 5, true},
                      {6, 5, false},
                      {1'000'000, retry_for_ever, true}};
    for (const auto& row : rows)
        EXPECT_EQ(retries_left(row.attempts, row.max_retries), row.expected)
            << row.attempts << " of " << row.max_retries;
}

struct window_case {
    retry_policy policy;
    retry_limits limits;
    std::chrono::milliseconds window;
};

TEST(retry_policy, tells_how_long_a_message_may_be_sent_again) {
    const retry_policy doubling(
        exponential_backoff{.base = 2s, .max = 5min, .jitter_max = 500ms, .jitter_factor = 0});
    const retry_policy spread(
        exponential_backoff{.base = 5s, .max = 5min, .jitter_max = 0ms, .jitter_factor = 0.2});
    const retry_policy fixed(fixed_backoff{30s});
    const retry_policy custom([](std::int32_t, std::string_view) { return std::optional(1ms); });
    const window_case cases[] = {
        {doubling, {.retries_max = 5, .attempt_timeout = 0ms, .message_ttl = 24h}, 64'500ms},
        {doubling, {.retries_max = 5, .attempt_timeout = 30s, .message_ttl = 24h}, 244'500ms},
        {doubling, {.retries_max = 0, .attempt_timeout = 30s, .message_ttl = 24h}, 30s},
        {spread, {.retries_max = 2, .attempt_timeout = 0ms, .message_ttl = 24h}, 18s},
        {fixed, {.retries_max = 50, .attempt_timeout = 0ms, .message_ttl = 24h}, 25min},
        {fixed, {.retries_max = 50, .attempt_timeout = 0ms, .message_ttl = 10min}, 10min},
        {fixed, {.retries_max = retry_for_ever, .attempt_timeout = 0ms, .message_ttl = 3h}, 3h},
        {custom, {.retries_max = 1, .attempt_timeout = 0ms, .message_ttl = 3h}, 3h},
        {retry_policy(fixed_backoff{0ms}),
         {.retries_max = 1'000'000, .attempt_timeout = 0ms, .message_ttl = 3h},
         0ms},
    };
    for (const auto& [policy, limits, window] : cases)
        EXPECT_EQ(longest_retry_window(policy, limits), window);
}

}  // namespace
}  // namespace posthorn
