// What people change while messages are under way: keys, nodes, and the database itself.
#include <gtest/gtest.h>

#include "sim/disk_query.hpp"
#include "sim/restores.hpp"
#include "sim/world.hpp"

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

/// Two services, whose handlers always succeed; two nodes share the file of the first.
class change : public testing::Test {
protected:
    change()
        : around({.seed = 11,
                  .services = 2,
                  .nodes = {2, 1},
                  .habits = {.throws_early = 0,
                             .throws_late = 0,
                             .buries = 0,
                             .breaks_the_group = 0,
                             .responds = 100,
                             .sends_on = 0},
                  .node = brisk_options()}) {
        around.net.look_interval = 1;
        around.downtime = [] { return 1s; };
        around.start();
        around.loop.run_for(100ms);
    }

    machine& sender() { return around.at(0); }
    machine& receiver() { return around.at(1); }
    void send(int count) {
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(around.send(sender(), around.work.simple("bob")));
    }
    process& owner() {
        for (auto* one : sender().running())
            if (one->is_owner()) return *one;
        throw std::runtime_error("nobody sends");
    }
    std::int64_t pending() {
        std::int64_t found = -1;
        query_disk(sender().disk(), database_path,
                   "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'",
                   [&](const plain_row& row) { found = row.number(0); });
        return found;
    }
    tally finish() {
        EXPECT_TRUE(around.drain(10min));
        const auto count = around.shut_down();
        for (const auto& wrong : around.book.violations()) ADD_FAILURE() << wrong;
        return count;
    }
    /// The sender has a new key; it signs in ten seconds, and the old one lasts ten more.
    ring_file rotate() {
        auto file = sender().keys().file_of("bob");
        value_or_throw(
            file.rotate(draw_secret(around.dice),
                        {.now = around.loop.time().wall(), .after = 10s, .overlap = 10s}));
        sender().keys().install("bob", file);
        return file;
    }

    world around;
};

TEST_F(change, a_new_key_reaches_one_side_first_and_nothing_is_refused) {
    const auto file = rotate();
    for (int second = 0; second < 30; ++second) {
        if (second == 8) receiver().keys().install("ann", file);
        send(1);
        around.loop.run_for(1s);
    }
    EXPECT_EQ(around.net.seen().refused, 0U);
    const auto count = finish();
    EXPECT_EQ(count.sent, 30U);
    EXPECT_EQ(count.effects, 30U);
}

TEST_F(change, a_new_key_that_comes_too_late_holds_messages_up_and_loses_none) {
    const auto file = rotate();
    for (int second = 0; second < 30; ++second) {
        if (second == 20) {
            EXPECT_GT(around.net.seen().refused, 0U);
            receiver().keys().install("ann", file);
        }
        send(1);
        around.loop.run_for(1s);
    }
    const auto count = finish();
    EXPECT_EQ(count.sent, 30U);
    EXPECT_EQ(count.effects, 30U);
}

// Its answers are there when it goes on, and by then it may not say so any more.
TEST_F(change, a_node_that_stood_still_past_its_lease_records_nothing) {
    process* const first = &owner();
    around.net.on_answered = [&](const parcel&, process&) {
        around.net.on_answered = nullptr;
        first->pause(true);
        around.net.cut.insert({"ann", "bob"});  // Whoever takes over gets nowhere for now.
    };
    send(5);
    around.loop.run_for(14s);
    ASSERT_NE(&owner(), first);
    first->pause(false);
    around.loop.run_for(1s);
    int in_vain = 0;
    for (const auto& [id, tried] : around.book.tries()) in_vain += tried.in_vain;
    EXPECT_GT(in_vain, 0);
    EXPECT_EQ(pending(), 5);
    around.net.cut.clear();
    const auto count = finish();
    EXPECT_EQ(count.sent, 5U);
    EXPECT_EQ(count.effects, 5U);
}

TEST_F(change, another_node_takes_over_from_one_that_was_killed) {
    around.net.cut.insert({"ann", "bob"});
    send(5);
    around.loop.run_for(100ms);
    const auto running = sender().running();
    for (std::size_t i = 0; i < running.size(); ++i)
        if (running[i]->is_owner()) {
            sender().kill_one(i);
            break;
        }
    around.boot_later(sender(), 30s);
    around.net.cut.clear();
    around.loop.run_for(20s);
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(finish().effects, 5U);
}

TEST_F(change, a_restored_receiver_gets_again_what_it_forgot_and_nothing_twice) {
    restores copies(around);
    send(3);
    ASSERT_TRUE(around.drain(1min));
    ASSERT_TRUE(copies.back_up(receiver()));
    send(4);
    ASSERT_TRUE(around.drain(1min));
    ASSERT_TRUE(copies.restore(receiver()));
    send(2);
    ASSERT_TRUE(around.drain(1min));
    EXPECT_EQ(copies.replayed(), 4U);
    ASSERT_TRUE(copies.replay_rest());
    const auto count = finish();
    EXPECT_EQ(count.sent, 9U);
    EXPECT_EQ(count.effects, 9U);
    EXPECT_EQ(count.forgotten, 0U);
}

TEST_F(change, a_restored_sender_repeats_what_it_does_not_know_to_be_sent) {
    restores copies(around);
    around.net.cut.insert({"ann", "bob"});
    send(3);
    around.loop.run_for(1s);
    ASSERT_TRUE(copies.back_up(sender()));  // They are pending in it.
    around.net.cut.clear();
    ASSERT_TRUE(around.drain(1min));
    send(2);
    ASSERT_TRUE(around.drain(1min));
    ASSERT_TRUE(copies.restore(sender()));
    const auto count = finish();
    EXPECT_EQ(count.messages, 3U);
    EXPECT_EQ(count.sent, 3U);
    EXPECT_EQ(count.effects, 5U);
    EXPECT_EQ(count.forgotten, 2U);
}

}  // namespace
}  // namespace posthorn::sim
