#include "outbox/dispatch/hand_over.hpp"

#include <gtest/gtest.h>

#include "outbox/rules/agenda.hpp"
#include "outbox/rules/held_rows.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

std::vector<outbox_row> rows(std::int64_t from, std::int64_t to) {
    std::vector<outbox_row> made;
    for (; from <= to; ++from) made.push_back({.seq = from, .body = {}, .attempts = 0});
    return made;
}

TEST(hand_over, keeps_the_order_of_commits) {
    bell arrivals;
    hand_over hot({.rows = 10, .bytes = 1'000}, arrivals);
    hot.open();
    hot.push(rows(1, 2));
    hot.push(rows(3, 3));
    const auto taken = hot.take();
    ASSERT_EQ(taken.rows.size(), 3U);
    EXPECT_EQ(taken.rows[0].seq, 1);
    EXPECT_EQ(taken.rows[2].seq, 3);
    EXPECT_FALSE(taken.overflowed);
    EXPECT_TRUE(hot.take().rows.empty());
}

TEST(hand_over, holds_no_more_than_its_bound_and_says_so_once) {
    bell arrivals;
    hand_over hot({.rows = 3, .bytes = 1'000}, arrivals);
    hot.open();
    EXPECT_EQ(hot.push(rows(1, 2)), 0U);
    EXPECT_EQ(hot.push(rows(3, 6)), 3U);
    EXPECT_EQ(hot.push(rows(7, 7)), 1U);
    const auto taken = hot.take();
    EXPECT_EQ(taken.rows.size(), 3U);
    EXPECT_TRUE(taken.overflowed);
    EXPECT_FALSE(hot.take().overflowed);
}

TEST(hand_over, holds_no_more_bytes_than_its_bound_but_for_the_last_message) {
    bell arrivals;
    hand_over hot({.rows = 100, .bytes = 1'000}, arrivals);
    hot.open();
    const auto large = [](std::int64_t from, std::int64_t to) {
        auto some = rows(from, to);
        for (auto& row : some) row.body.payload = std::string(400, 'x');
        return some;
    };
    EXPECT_EQ(hot.push(large(1, 2)), 0U);
    EXPECT_EQ(hot.push(large(3, 6)), 3U);
    EXPECT_EQ(hot.push(rows(7, 7)), 1U);
    const auto taken = hot.take();
    EXPECT_EQ(taken.rows.size(), 3U);
    EXPECT_TRUE(taken.overflowed);
    EXPECT_EQ(hot.push(large(8, 8)), 0U) << "there is room again";
}

TEST(hand_over, takes_nothing_while_closed) {
    bell arrivals;
    hand_over hot({.rows = 3, .bytes = 1'000}, arrivals);
    EXPECT_EQ(hot.push(rows(1, 9)), 0U);
    hot.open();
    EXPECT_TRUE(hot.take().rows.empty());
    hot.push(rows(1, 9));
    hot.close();
    const auto taken = hot.take();
    EXPECT_TRUE(taken.rows.empty());
    EXPECT_FALSE(taken.overflowed);
}

TEST(hand_over, takes_what_was_stored_for_it_and_leaves_the_rest_to_whoever_finds_it) {
    bell arrivals;
    hand_over hot({.rows = 4, .bytes = 1'000}, arrivals);
    EXPECT_EQ(hot.claims_as(), 0) << "while closed";
    hot.open(7);
    EXPECT_EQ(hot.claims_as(), 7);
    auto some = rows(1, 4);
    some[0].claim = some[1].claim = some[2].claim = 7;
    some[3].claim = 6;
    EXPECT_EQ(hot.push(std::move(some)), 1U);
    EXPECT_EQ(hot.claims_as(), 0) << "there is little room";
    const auto taken = hot.take();
    EXPECT_EQ(taken.rows.size(), 3U);
    EXPECT_TRUE(taken.overflowed);
    EXPECT_EQ(hot.claims_as(), 7);
}

TEST(held_rows, holds_a_row_once) {
    byte_budget all;
    held_rows held(all);
    EXPECT_TRUE(held.add(1));
    EXPECT_FALSE(held.add(1));
    EXPECT_EQ(held.size(), 1U);
    held.remove(1);
    EXPECT_FALSE(held.knows(1));
    EXPECT_TRUE(held.add(1));
}

TEST(held_rows, count_their_bytes_for_all_lanes_together) {
    byte_budget all;
    held_rows first(all);
    {
        held_rows second(all);
        EXPECT_TRUE(first.add(1, 10));
        EXPECT_TRUE(first.add(2, 5));
        EXPECT_FALSE(first.add(2, 5));
        EXPECT_TRUE(second.add(1, 100));
        EXPECT_EQ(first.bytes(), 15U);
        EXPECT_EQ(first.bytes_of(1), 10U);
        EXPECT_EQ(first.bytes_of(3), 0U);
        EXPECT_EQ(all.held(), 115U);
        first.remove(1);
        first.remove(1);
        EXPECT_EQ(first.bytes(), 5U);
        EXPECT_EQ(all.held(), 105U);
        EXPECT_EQ(all.left_of(110), 5U);
        EXPECT_EQ(all.left_of(100), 0U);
    }
    EXPECT_EQ(all.held(), 5U) << "a lane that goes away";
    EXPECT_EQ(all.highest(), 115U);
}

TEST(held_rows, knows_what_left_during_a_read_until_the_read_ends) {
    byte_budget all;
    held_rows held(all);
    held.add(1);
    held.begin_read();
    held.add(2);
    held.remove(1);
    held.remove(2);
    EXPECT_EQ(held.size(), 0U);
    EXPECT_TRUE(held.knows(1));
    EXPECT_TRUE(held.knows(2));
    EXPECT_FALSE(held.add(1));
    held.end_read();
    EXPECT_FALSE(held.knows(1));
    EXPECT_TRUE(held.add(1));
}

TEST(agenda, gives_the_soonest_and_says_when_it_changes) {
    agenda times(2);
    const wall_time start{1h};
    EXPECT_TRUE(times.note(start + 2s, "stock"));
    EXPECT_TRUE(times.note(start + 1s, "billing"));
    EXPECT_FALSE(times.note(start + 3s, "billing"));  // One too many: the last is left to the poll.
    EXPECT_EQ(times.next(), start + 1s);
    sweep_scope where;
    times.take_until(start + 1s, where);
    EXPECT_EQ(where.destinations, (std::set<std::string, std::less<>>{"billing"}));
    EXPECT_FALSE(where.everywhere);
    EXPECT_EQ(times.next(), start + 2s);
    times.take_until(start + 2s, where);
    EXPECT_EQ(where.destinations, (std::set<std::string, std::less<>>{"billing", "stock"}));
    EXPECT_EQ(times.next(), std::nullopt);
}

TEST(agenda, looks_everywhere_where_only_the_time_is_known) {
    agenda times(2);
    times.note_somewhere(wall_time{1h});
    sweep_scope where;
    times.take_until(wall_time{1h} - 1ms, where);
    EXPECT_TRUE(where.empty());
    times.take_until(wall_time{1h}, where);
    EXPECT_TRUE(where.everywhere);
}

TEST(hand_over, tells_what_is_expected_until_something_comes) {
    bell arrivals;
    hand_over hot({.rows = 4, .bytes = 1'000}, arrivals);
    hot.expect(rows(1, 1).front());
    hot.open();
    EXPECT_FALSE(hot.take().expected) << "it came while closed";
    hot.expect(rows(2, 2).front());
    const auto taken = hot.take();
    ASSERT_TRUE(taken.expected);
    EXPECT_EQ(taken.expected->seq, 2);
    EXPECT_TRUE(taken.rows.empty());
    EXPECT_FALSE(hot.take().expected);

    hot.expect(rows(3, 3).front());
    hot.push(rows(3, 3));
    EXPECT_FALSE(hot.take().expected) << "it has come";
    hot.push(rows(4, 4));
    hot.expect(rows(5, 5).front());
    EXPECT_FALSE(hot.take().expected) << "others go first";
    hot.expect(rows(6, 6).front());
    hot.close();
    hot.open();
    EXPECT_FALSE(hot.take().expected);
}

TEST(hand_over, expects_only_what_is_stored_for_it) {
    bell arrivals;
    hand_over hot({.rows = 4, .bytes = 1'000}, arrivals);
    hot.open(7);
    auto row = rows(1, 1).front();
    hot.expect(row);
    EXPECT_FALSE(hot.take().expected);
    row.claim = 7;
    hot.expect(row);
    EXPECT_TRUE(hot.take().expected);
}

}  // namespace
}  // namespace posthorn
