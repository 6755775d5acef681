// Expired is for ever, so a sender whose wall clock has jumped must not decide it.
#include <algorithm>

#include <gtest/gtest.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

/// A message that waits for a receiver that is down, sent while the clock was right.
class clock_jump : public ::testing::Test {
protected:
    clock_jump() {
        inventory.always(outcome::transient);
        node.start();
        seq = node.store.send(node.to("inventory"));
        loop.run_for(1s);
    }

    virtual_loop loop;
    rig node{loop};
    test::fake_wire& inventory = node.wire("inventory");
    std::int64_t seq = 0;
};

TEST_F(clock_jump, a_clock_that_is_ahead_for_seconds_expires_nothing) {
    loop.time().jump_wall(48h);
    loop.run_for(3s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.get().counters().expired, 0U);
    loop.time().jump_wall(-48h);
    inventory.always(outcome::delivered);
    loop.run_for(2s);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
}

TEST_F(clock_jump, is_told_once_and_shows) {
    EXPECT_FALSE(node.get().clock_jumped());
    loop.time().jump_wall(48h);
    loop.run_for(10s);
    EXPECT_TRUE(node.get().clock_jumped());
    EXPECT_EQ(std::ranges::count_if(
                  node.lines, [](const auto& line) { return line.contains("Clock has jumped"); }),
              1);
}

TEST_F(clock_jump, a_clock_that_stays_where_it_jumped_to_is_believed_after_an_hour) {
    loop.time().jump_wall(48h);
    loop.run_for(59min);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    loop.run_for(2min);
    EXPECT_EQ(node.row(seq).status, outbox_status::expired);
    EXPECT_FALSE(node.get().clock_jumped());
}

TEST_F(clock_jump, during_an_attempt_leaves_its_message_pending_and_uncharged) {
    inventory.delay = 3s;
    loop.run_for(2s);  // The retry is on its way.
    ASSERT_EQ(inventory.sends.size(), 2U);
    loop.time().jump_wall(48h);
    loop.run_for(5s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).row.attempts, 1);
}

TEST_F(clock_jump, holds_up_no_message_that_is_sent_meanwhile) {
    loop.time().jump_wall(48h);
    loop.run_for(1s);
    inventory.always(outcome::delivered);
    const auto later = node.store.send(node.to("inventory"));
    loop.run_for(10ms);
    EXPECT_EQ(node.row(later).status, outbox_status::sent);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
}

TEST_F(clock_jump, a_page_full_of_rows_in_doubt_is_looked_at_once_a_poll) {
    rig small(loop, {}, "small");
    small.options.lane.window_rows = 10;
    small.wire("inventory").always(outcome::transient);
    small.start();
    for (int i = 0; i < 20; ++i) small.store.send(small.to("inventory"));
    loop.run_for(1s);
    loop.time().jump_wall(48h);
    loop.run_for(1s);
    const auto before = small.get().counters().sweeps.load();
    loop.run_for(10s);
    EXPECT_LE(small.get().counters().sweeps - before, 12U);
}

}  // namespace
}  // namespace posthorn
