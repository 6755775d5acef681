#include "history/chart.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time noon{std::chrono::sys_days{std::chrono::year{2026} / 2 / 14} + 12h};

/// `slots` of `step` from noon on.
history_chart lay(std::vector<history_row> rows, std::chrono::seconds step, std::size_t slots) {
    return lay_out(rows, {"test", step, slots, 10s}, noon);
}

history_row row(std::chrono::seconds at, std::chrono::seconds step, history_numbers numbers) {
    return {.at = noon + at, .step = step, .node = "a", .key = {}, .numbers = numbers};
}

TEST(history_chart, says_how_many_a_second_and_leaves_unknown_what_has_no_row) {
    const auto chart = lay({row(0s, 10s, {.done = 20, .failed = 5})}, 10s, 2);
    ASSERT_EQ(chart.size(), 2U);
    ASSERT_TRUE(chart[0]);
    EXPECT_DOUBLE_EQ(chart[0]->done, 2);
    EXPECT_DOUBLE_EQ(chart[0]->failed, 0.5);
    EXPECT_FALSE(chart[1]);
}

TEST(history_chart, sums_up_the_rows_of_a_slot_and_shows_the_worst_of_what_waited) {
    const auto chart = lay({row(0s, 10s, {.done = 10, .waiting = 5, .oldest_ms = 900}),
                            row(10s, 10s, {.done = 20, .waiting = 80, .oldest_ms = 100}),
                            row(20s, 10s, {.done = 30, .waiting = 3})},
                           30s, 1);
    ASSERT_TRUE(chart[0]);
    EXPECT_DOUBLE_EQ(chart[0]->done, 2);
    EXPECT_EQ(chart[0]->waiting, 80);
    EXPECT_EQ(chart[0]->oldest_ms, 900);
}

TEST(history_chart, spreads_a_row_over_the_slots_that_it_covers) {
    const auto chart = lay({row(-5s, 10s, {.done = 40, .waiting = 7})}, 1s, 6);
    for (std::size_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(chart[i]) << i;
        EXPECT_DOUBLE_EQ(chart[i]->done, 4) << i;
        EXPECT_EQ(chart[i]->waiting, 7) << i;
    }
    EXPECT_FALSE(chart[5]);
}

TEST(history_chart, adds_up_nodes_without_counting_twice_what_they_share) {
    const auto chart =
        lay({row(0s, 10s, {.done = 10, .waiting = 6}), row(0s, 10s, {.done = 30, .waiting = 7})},
            10s, 1);
    ASSERT_TRUE(chart[0]);
    EXPECT_DOUBLE_EQ(chart[0]->done, 4);
    EXPECT_EQ(chart[0]->waiting, 7);
}

TEST(history_chart, takes_percentiles_over_all_rows_of_a_slot) {
    history_numbers quick{.done = 99};
    quick.took[0] = 99;
    history_numbers slow{.done = 99};
    slow.took[9] = 99;
    const auto chart = lay({row(0s, 10s, quick), row(10s, 10s, slow)}, 20s, 1);
    ASSERT_TRUE(chart[0]);
    EXPECT_DOUBLE_EQ(chart[0]->p50_ms, 0.1);
    EXPECT_NEAR(chart[0]->p99_ms, 99, 1);
}

TEST(history_chart, finds_what_arrived_from_what_left_and_what_the_backlog_grew_by) {
    const auto chart = lay(
        {row(0s, 10s, {.done = 10, .waiting = 100}),
         row(10s, 10s, {.done = 10, .dead = 10, .waiting = 150}),
         row(20s, 10s, {.done = 70, .waiting = 100}), row(40s, 10s, {.done = 10, .waiting = 900})},
        10s, 5);
    EXPECT_DOUBLE_EQ(chart[0]->came, 1);  // How it was before is not known.
    EXPECT_DOUBLE_EQ(chart[1]->came, 7);
    EXPECT_DOUBLE_EQ(chart[2]->came, 2);
    EXPECT_FALSE(chart[3]);
    EXPECT_DOUBLE_EQ(chart[4]->came, 1);  // Nor is it after a gap.
}

TEST(history_chart, does_not_let_what_arrived_jump_where_the_backlog_is_read_less_often) {
    std::vector<history_row> rows;
    for (int i = 0; i < 20; ++i)
        rows.push_back(row(std::chrono::seconds(i), 1s, {.done = 5, .waiting = i < 9 ? 0 : 100}));
    rows[19].numbers.waiting = 200;
    const auto chart = lay(rows, 1s, 20);
    for (std::size_t i = 10; i < 20; ++i) EXPECT_DOUBLE_EQ(chart[i]->came, 15) << i;
}

TEST(history_chart, ends_with_the_last_slot_that_is_over) {
    const history_range range{"test", 30s, 4, 10s};
    EXPECT_EQ(begin_of(range, noon + 29s), noon - 2min);
    EXPECT_EQ(begin_of(range, noon + 30s), noon - 90s);
}

}  // namespace
}  // namespace posthorn
