#include "store/rules/fair_shares.hpp"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

struct share_case {
    std::string name;
    std::vector<std::size_t> wants;
    std::size_t limit;
    std::size_t start;
    std::vector<std::size_t> shares;
};

class share_out_table : public ::testing::TestWithParam<share_case> {};

TEST_P(share_out_table, gives) {
    const auto& one = GetParam();
    EXPECT_EQ(fair_shares(one.wants, one.limit, one.start), one.shares);
}

INSTANTIATE_TEST_SUITE_P(
    shares, share_out_table,
    ::testing::Values(share_case{"nothing_to_nobody", {}, 5, 0, {}},
                      share_case{"all_to_one", {10}, 5, 0, {5}},
                      share_case{"no_more_than_one_can_use", {3}, 5, 0, {3}},
                      share_case{"nothing_of_nothing", {3, 3}, 0, 0, {0, 0}},
                      share_case{"the_same_to_all", {9, 9, 9}, 9, 0, {3, 3, 3}},
                      share_case{"what_is_left_over_to_others", {1, 9, 9}, 9, 0, {1, 4, 4}},
                      share_case{"what_is_left_over_in_steps", {1, 3, 99}, 30, 0, {1, 3, 26}},
                      share_case{"the_rest_from_the_first", {9, 9, 9}, 10, 0, {4, 3, 3}},
                      share_case{"the_rest_from_the_start", {9, 9, 9}, 11, 2, {4, 3, 4}},
                      share_case{"one_each_from_the_start", {9, 9, 9, 9}, 2, 3, {1, 0, 0, 1}},
                      share_case{"past_those_who_want_nothing", {0, 9, 0, 9}, 3, 0, {0, 2, 0, 1}},
                      share_case{"all_that_is_wanted", {1, 2, 3}, 100, 1, {1, 2, 3}}),
    [](const auto& info) { return info.param.name; });

TEST(fair_shares, gives_everybody_the_same_in_the_long_run) {
    const std::vector<std::size_t> wants(7, 100);
    std::vector<std::size_t> given(7, 0);
    for (std::size_t turn = 0; turn < 7; ++turn) {
        const auto shares = fair_shares(wants, 3, turn * 3 % 7);
        EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::size_t{0}), 3U);
        for (std::size_t i = 0; i < shares.size(); ++i) given[i] += shares[i];
    }
    EXPECT_EQ(given, std::vector<std::size_t>(7, 3));
}

}  // namespace
}  // namespace posthorn
