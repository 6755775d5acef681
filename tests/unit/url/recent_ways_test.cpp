#include "url/recent_ways.hpp"

#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr steady_time begun{};

TEST(recent_ways, are_found_by_what_they_lead_to) {
    recent_ways<int> ways;
    ways.add("a", std::make_shared<int>(1), begun);
    ways.add("b", std::make_shared<int>(2), begun);
    EXPECT_EQ(*ways.find("a", begun), 1);
    EXPECT_EQ(*ways.find("b", begun), 2);
    EXPECT_EQ(ways.find("c", begun), nullptr);
}

TEST(recent_ways, are_bounded_in_number_and_the_one_used_last_stays) {
    recent_ways<int> ways({.count_max = 3});
    ways.add("kept", std::make_shared<int>(0), begun);
    for (int i = 1; i <= 10'000; ++i) {
        ways.add("way " + std::to_string(i), std::make_shared<int>(i), begun);
        EXPECT_NE(ways.find("kept", begun), nullptr);
        EXPECT_LE(ways.size(), 3U);
    }
    EXPECT_EQ(ways.find("way 1", begun), nullptr);
    EXPECT_EQ(*ways.find("way 10000", begun), 10'000);
}

TEST(recent_ways, that_are_let_go_live_for_as_long_as_they_are_used) {
    recent_ways<int> ways({.count_max = 1});
    ways.add("a", std::make_shared<int>(1), begun);
    const auto used = ways.find("a", begun);
    ways.add("b", std::make_shared<int>(2), begun);
    EXPECT_EQ(ways.find("a", begun), nullptr);
    EXPECT_EQ(*used, 1);
}

TEST(recent_ways, are_dropped_when_they_were_not_used_for_a_while) {
    recent_ways<int> ways({.idle_max = 10min});
    ways.add("idle", std::make_shared<int>(1), begun);
    ways.add("busy", std::make_shared<int>(2), begun);
    EXPECT_NE(ways.find("busy", begun + 9min), nullptr);
    EXPECT_NE(ways.find("busy", begun + 10min), nullptr);
    EXPECT_EQ(ways.size(), 1U);
    EXPECT_EQ(ways.find("idle", begun + 10min), nullptr);
}

}  // namespace
}  // namespace posthorn
