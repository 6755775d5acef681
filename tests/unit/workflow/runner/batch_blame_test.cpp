#include "workflow/runner/batch_blame.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using keys = std::vector<std::uint64_t>;

/// What runs, in order, where a runner falls on each of some keys as often as is said.
struct played {
    std::vector<keys> runs;
    keys at_fault;
    std::size_t falls = 0;
};

played play(keys all, std::multiset<std::uint64_t> falls_on) {
    batch_blame blame(all);
    played seen;
    while (!blame.next().empty()) {
        const keys now(blame.next().begin(), blame.next().end());
        seen.runs.push_back(now);
        auto fell = falls_on.end();
        for (const auto key : now)
            if (fell == falls_on.end()) fell = falls_on.find(key);
        if (fell == falls_on.end()) {
            blame.answered();
        } else {
            falls_on.erase(fell);
            blame.fell();
        }
    }
    seen.at_fault = blame.at_fault();
    seen.falls = blame.falls();
    return seen;
}

TEST(batch_blame, lets_a_batch_that_is_answered_be) {
    const auto seen = play({1, 2, 3}, {});
    EXPECT_THAT(seen.runs, ElementsAre(keys{1, 2, 3}));
    EXPECT_THAT(seen.at_fault, IsEmpty());
}

TEST(batch_blame, runs_one_by_one_what_fell_together) {
    const auto seen = play({1, 2, 3}, {2, 2});
    EXPECT_THAT(seen.runs, ElementsAre(keys{1, 2, 3}, keys{1}, keys{2}, keys{3}));
    EXPECT_THAT(seen.at_fault, ElementsAre(2U));
    EXPECT_EQ(seen.falls, 2U);
}

TEST(batch_blame, holds_none_for_falling_once) {
    EXPECT_THAT(play({1, 2, 3}, {2}).at_fault, IsEmpty());
    const auto alone = play({5}, {5});
    EXPECT_THAT(alone.runs, ElementsAre(keys{5}, keys{5}));
    EXPECT_THAT(alone.at_fault, IsEmpty());
}

TEST(batch_blame, holds_one_that_falls_alone_twice) {
    const auto seen = play({5}, {5, 5});
    EXPECT_THAT(seen.runs, ElementsAre(keys{5}, keys{5}));
    EXPECT_THAT(seen.at_fault, ElementsAre(5U));
}

TEST(batch_blame, finds_several_and_ends) {
    const auto seen = play({1, 2, 3, 4}, {1, 1, 3, 3, 4, 4, 4, 4});
    EXPECT_THAT(seen.at_fault, ElementsAre(1U, 3U, 4U));
    EXPECT_EQ(seen.runs.size(), 5U);
    EXPECT_TRUE(batch_blame({}).next().empty());
}

}  // namespace
}  // namespace posthorn
