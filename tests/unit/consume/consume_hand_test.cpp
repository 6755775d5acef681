#include "consume/consume_hand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const steady_time start{1h};

TEST(consume_hand, gives_the_oldest_first_and_each_once) {
    consume_hand hand;
    for (const std::uint64_t tag : {1U, 2U, 3U}) hand.add(tag, "");
    EXPECT_THAT(hand.next(start, 2), ElementsAre(1, 2));
    EXPECT_THAT(hand.next(start, 2), ElementsAre(3));
    EXPECT_THAT(hand.next(start, 2), IsEmpty());
    EXPECT_TRUE(hand.is_at_work(1));
    hand.ended(1);
    EXPECT_FALSE(hand.is_at_work(1));
    EXPECT_EQ(hand.size(), 2U);
}

TEST(consume_hand, gives_of_an_order_key_none_before_the_one_ahead_has_ended) {
    consume_hand hand;
    hand.add(1, "k");
    hand.add(2, "k");
    hand.add(3, "other");
    EXPECT_THAT(hand.next(start, 9), ElementsAre(1, 3));
    EXPECT_THAT(hand.next(start, 9), IsEmpty());
    hand.ended(1);
    EXPECT_THAT(hand.next(start, 9), ElementsAre(2));
}

TEST(consume_hand, holds_up_those_of_its_key_alone_while_one_waits) {
    consume_hand hand;
    hand.add(1, "k");
    hand.add(2, "k");
    hand.add(3, "");
    EXPECT_THAT(hand.next(start, 9), ElementsAre(1, 3));
    EXPECT_FALSE(hand.due_at());
    hand.waits(1, start + 5s);
    hand.ended(3);
    EXPECT_EQ(hand.due_at(), start + 5s);
    EXPECT_THAT(hand.next(start + 4s, 9), IsEmpty());
    EXPECT_THAT(hand.next(start + 5s, 9), ElementsAre(1));
    hand.ended(1);
    EXPECT_THAT(hand.next(start + 5s, 9), ElementsAre(2));
}

TEST(consume_hand, knows_nothing_of_tags_that_are_gone) {
    consume_hand hand;
    hand.waits(7, start);
    hand.ended(7);
    EXPECT_EQ(hand.size(), 0U);
    EXPECT_FALSE(hand.due_at());
}

}  // namespace
}  // namespace posthorn
