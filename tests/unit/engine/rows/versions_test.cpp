#include "engine/rows/versions.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;

/// Linked or not, and how many are open.
std::vector<version_state> judged(const std::vector<std::pair<bool, std::int64_t>>& versions) {
    std::vector<version_row> rows;
    for (const auto& [is_linked, open] : versions)
        rows.push_back({.version = std::ssize(rows) + 1, .is_linked = is_linked, .open = open});
    judge_versions(rows);
    std::vector<version_state> states;
    for (const auto& row : rows) states.push_back(row.state);
    return states;
}

TEST(versions, are_active_draining_drained_or_missing) {
    using enum version_state;
    EXPECT_THAT(judged({{true, 0}}), ElementsAre(active));
    EXPECT_THAT(judged({{true, 2}, {true, 0}}), ElementsAre(draining, active));
    EXPECT_THAT(judged({{true, 0}, {true, 5}}), ElementsAre(drained, active));
    EXPECT_THAT(judged({{false, 1}, {true, 5}}), ElementsAre(missing, active));
    EXPECT_THAT(judged({{false, 0}, {true, 5}}), ElementsAre(drained, active));
    // The program was taken back to an older one.
    EXPECT_THAT(judged({{true, 5}, {false, 1}}), ElementsAre(active, missing));
    EXPECT_THAT(judged({{false, 5}, {false, 0}}), ElementsAre(missing, drained));
}

}  // namespace
}  // namespace posthorn
