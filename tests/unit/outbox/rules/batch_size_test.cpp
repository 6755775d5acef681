#include "outbox/rules/batch_size.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr auto timeout = 16s;  // So that slow is 4 s and quick is below 1 s.

struct size_case {
    std::string claim;
    std::vector<batch_result> seen;
    std::size_t rows;  // Of 50 at most.
};

constexpr batch_result silent{.rows = 50, .took = 1ms, .answered = false};

const std::vector<size_case> cases{
    {"it begins with the most", {}, 50},
    {"a quick full one cannot make it larger", {{50, 1ms}}, 50},
    {"one without an answer halves it", {silent}, 25},
    {"one that took a quarter of its time halves it", {{50, 4s}}, 25},
    {"one that took less leaves it", {{50, 3999ms}}, 50},
    {"so does one that is not full", {silent, {24, 1ms}}, 25},
    {"a slow one that is not full halves it too", {{3, 4s}}, 25},
    {"a full quick one doubles it", {silent, {25, 999ms}}, 50},
    {"but not past the most", {{49, 4s}, {25, 1ms}, {50, 1ms}}, 50},
    {"one that is not quick leaves it", {silent, {25, 1s}}, 25},
    {"one of before it shrank says nothing", {silent, silent, {50, 9s}}, 25},
    {"it shrinks to one, and not further",
     {silent, {25, 5s}, {12, 5s}, {6, 5s}, {3, 5s}, {1, 5s}, {1, 5s}},
     1},
    {"and grows from there",
     {silent, {25, 5s}, {12, 5s}, {6, 5s}, {3, 5s}, {1, 1ms}, {2, 1ms}, {4, 1ms}, {8, 1ms}},
     16},
};

TEST(batch_size, follows_its_table) {
    for (const auto& one : cases) {
        batch_size tested(50);
        for (const auto& seen : one.seen) tested.note(seen, timeout);
        EXPECT_EQ(tested.rows(), one.rows) << one.claim;
    }
}

TEST(batch_size, takes_a_new_maximum_over) {
    batch_size large(50);
    large.change_max(80);
    EXPECT_EQ(large.rows(), 80U);
    large.change_max(10);
    EXPECT_EQ(large.rows(), 10U);
    batch_size small(50);
    small.note(silent, timeout);
    small.change_max(100);
    EXPECT_EQ(small.rows(), 25U);
    small.change_max(0);
    EXPECT_EQ(small.rows(), 1U);
}

}  // namespace
}  // namespace posthorn
