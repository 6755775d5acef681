#include "outbox/rules/rate_limit.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr steady_time start{1000s};

struct rate_case {
    std::string claim;
    rate_options options;
    std::size_t taken;  // At the start.
    std::chrono::milliseconds later;
    std::size_t wanted;
    std::size_t allowed;
    std::chrono::milliseconds ready;  // How much later still, if fewer are allowed than wanted.
};

const std::vector<rate_case> cases{
    {"without a rate all may go", {}, 1'000'000, 0ms, 5000, 5000, 0ms},
    {"at first a second's worth may go", {.per_second = 100}, 0, 0ms, 500, 100, 0ms},
    {"or as many as the burst says", {.per_second = 100, .burst = 7}, 0, 0ms, 500, 7, 0ms},
    {"not more than wanted", {.per_second = 100}, 0, 0ms, 3, 3, 0ms},
    {"an empty bucket allows none", {.per_second = 100}, 100, 0ms, 50, 0, 20ms},
    {"and says when the next is worth a request", {.per_second = 10}, 10, 0ms, 50, 0, 100ms},
    {"which is 20 ms of a high rate", {.per_second = 10'000}, 10'000, 0ms, 5000, 0, 20ms},
    {"or what is wanted, if that is less", {.per_second = 10'000}, 10'000, 0ms, 10, 0, 1ms},
    {"it fills evenly", {.per_second = 100}, 100, 250ms, 50, 25, 0ms},
    {"but not past the burst", {.per_second = 100, .burst = 7}, 7, 1h, 50, 7, 0ms},
    {"a rate below one a second lets one through at a time", {.per_second = 0.5}, 1, 1s, 5, 0, 1s},
    {"and does so in the end", {.per_second = 0.5}, 1, 2s, 5, 1, 0ms},
    {"what went out in excess is made up for", {.per_second = 100}, 150, 500ms, 5, 0, 20ms},
};

TEST(rate_limit, allows_what_its_table_says) {
    for (const auto& one : cases) {
        rate_limit tested(one.options);
        tested.take(one.taken, start);
        const auto now = start + one.later;
        EXPECT_EQ(tested.allows(one.wanted, now), one.allowed) << one.claim;
        if (one.allowed < 1)
            EXPECT_EQ(tested.ready_at(one.wanted, now) - now, one.ready) << one.claim;
    }
}

TEST(rate_limit, allows_one_at_least_when_it_is_ready) {
    for (const double rate : {0.1, 0.7, 1.0, 3.0, 99.0, 12'345.0}) {
        rate_limit tested({.per_second = rate});
        auto now = start;
        std::ignore = tested.allows(1, now);
        tested.take(tested.allows(1'000'000, now), now);
        for (int i = 0; i < 100; ++i) {
            now = tested.ready_at(1000, now);
            const auto some = tested.allows(1000, now);
            ASSERT_GE(some, 1U) << rate;
            tested.take(some, now);
        }
        // No more than the rate in the end, give or take the last filling.
        const double seconds = std::chrono::duration<double>(now - start).count();
        EXPECT_LE(tested.allows(1'000'000, now), static_cast<std::size_t>(rate * seconds) + 1)
            << rate;
    }
}

TEST(rate_limit, sends_at_the_rate_over_a_long_time) {
    rate_limit tested({.per_second = 250, .burst = 10});
    auto now = start;
    std::size_t sent = 0;
    while (now < start + 60s) {
        const auto some = tested.allows(50, now);
        tested.take(some, now);
        sent += some;
        now = std::max(tested.ready_at(50, now), now + 1ms);
    }
    EXPECT_GE(sent, 250U * 60 * 98 / 100);
    EXPECT_LE(sent, 250U * 60 + 10);
}

TEST(rate_limit, takes_a_new_rate_over_without_a_second_burst) {
    rate_limit tested({.per_second = 100});
    tested.take(100, start);
    tested.change({.per_second = 1000}, start);
    EXPECT_EQ(tested.allows(5000, start), 0U);
    EXPECT_EQ(tested.allows(5000, start + 100ms), 100U);
    tested.change({}, start + 100ms);
    EXPECT_EQ(tested.allows(5000, start + 100ms), 5000U);
    tested.change({.per_second = 10}, start + 100ms);
    EXPECT_EQ(tested.allows(5000, start + 100ms), 10U);
}

}  // namespace
}  // namespace posthorn
