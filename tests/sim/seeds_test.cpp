#include <gtest/gtest.h>

#include "sim/simulation.hpp"

namespace posthorn::sim {
namespace {

/// An eighth of the seeds each, so that they run beside each other.
constexpr std::uint64_t parts = 8;

class sim : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(part, sim, testing::Range(std::uint64_t{0}, parts),
                         [](const auto& of) { return std::to_string(of.param + 1); });

TEST_P(sim, two_hundred_seeds_lose_nothing_and_double_nothing) {
    tally all;
    std::uint64_t cuts = 0, faults = 0;
    constexpr auto seeds = 200 / parts;
    for (std::uint64_t i = 0; i < seeds; ++i) {
        const auto seen = simulate({.seed = 1 + GetParam() * seeds + i, .messages = 400});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        all += seen.count;
        cuts += seen.cuts;
        for (const auto& [what, times] : seen.faults) faults += times;
    }
    // Enough has happened for something to go wrong.
    EXPECT_GT(all.messages, seeds * 400);
    EXPECT_GT(all.effects, all.messages / 2);
    EXPECT_GT(cuts, seeds);
    EXPECT_GT(faults, seeds * 5);
}

TEST_P(sim, two_thousand_power_cuts_lose_nothing_and_double_nothing) {
    std::uint64_t cuts = 0;
    tally all;
    constexpr auto worlds = 40 / parts;
    for (std::uint64_t i = 0; i < worlds; ++i) {
        const auto seen = simulate({.seed = 10'001 + GetParam() * worlds + i,
                                    .messages = 100,
                                    .power_only = true,
                                    .cuts = 50});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        cuts += seen.cuts;
        all += seen.count;
    }
    EXPECT_GE(cuts, 2'000 / parts);
    EXPECT_GT(all.effects, all.messages * 2 / 3);
}

TEST(history, is_the_same_for_the_same_seed) {
    for (const std::uint64_t seed : {3U, 14U, 15U, 92U, 65U}) {
        const auto first = simulate({.seed = seed, .messages = 150});
        const auto second = simulate({.seed = seed, .messages = 150});
        EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
        EXPECT_GT(first.count.effects, 0U);
    }
}

// The harness has to see what it is there for.
TEST(planted, a_store_that_forgets_order_keys_is_found_out) {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto seen = simulate({.seed = seed, .messages = 200, .forgets_order = true});
        for (const auto& wrong : seen.violations)
            found += wrong.find("invariant 4") != std::string::npos ? 1U : 0U;
    }
    EXPECT_GT(found, 5U);
}

TEST(history, is_another_one_for_another_seed) {
    EXPECT_NE(simulate({.seed = 1, .messages = 50}).hash,
              simulate({.seed = 2, .messages = 50}).hash);
}

}  // namespace
}  // namespace posthorn::sim
