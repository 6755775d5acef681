#include "outbox/rules/lane_window.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

struct window_case {
    std::string claim;
    std::vector<lane_window::seen> seen;
    std::size_t size;  // From 4, of 8 at most.
};

constexpr lane_window::seen failed{.took_effect = false, .in_flight = 4};

std::vector<lane_window::seen> quick_ones(std::size_t count, std::size_t in_flight = 8) {
    return std::vector<lane_window::seen>(count, {.took = 1ms, .in_flight = in_flight});
}

std::vector<lane_window::seen> with(std::vector<lane_window::seen> some, lane_window::seen last) {
    some.push_back(last);
    return some;
}

const std::vector<window_case> cases{
    {"it begins with the first", {}, 4},
    {"as many quick ones as may be in flight make it larger", quick_ones(4), 5},
    {"one fewer does not", quick_ones(3), 4},
    {"the next one needs more of them", quick_ones(4 + 4), 5},
    {"and comes with them", quick_ones(4 + 5), 6},
    {"it does not grow while fewer are in flight", quick_ones(100, 3), 4},
    {"slow ones leave it", std::vector(100, lane_window::seen{.took = 250ms, .in_flight = 8}), 4},
    {"it grows to the most, and not further", quick_ones(100), 8},
    {"a failure halves it", with(quick_ones(100), failed), 4},
    {"from what it has grown to", with(quick_ones(4), failed), 4},
    {"it does not fall below the first", {failed, failed, failed}, 4},
    {"after a failure it is counted anew", with(quick_ones(3), failed), 4},
};

TEST(lane_window, follows_its_table) {
    for (const auto& one : cases) {
        lane_window tested({.first = 4, .max = 8});
        for (const auto& seen : one.seen) tested.note(seen);
        EXPECT_EQ(tested.size(), one.size) << one.claim;
    }
}

TEST(lane_window, stays_as_it_is_where_the_most_is_what_it_begins_with) {
    lane_window tested({.first = 4, .max = 4});
    for (const auto& seen : with(quick_ones(100), failed)) tested.note(seen);
    EXPECT_EQ(tested.size(), 4U);
}

TEST(lane_window, takes_new_limits_over) {
    lane_window tested({.first = 4, .max = 32});
    for (const auto& seen : quick_ones(1000, 32)) tested.note(seen);
    EXPECT_EQ(tested.size(), 32U);
    tested.change({.first = 4, .max = 16});
    EXPECT_EQ(tested.size(), 16U);
    tested.change({.first = 0, .max = 0});
    EXPECT_EQ(tested.size(), 1U);
}

}  // namespace
}  // namespace posthorn
