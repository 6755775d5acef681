#include <gtest/gtest.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

/// As a process leaves it that was killed.
void leave_behind(rig& node) {
    node.store.tables.holder = lease{.owner = "killed", .epoch = 3, .beat = 9};
    node.store.tables.epoch = 3;
}

TEST(take_over, waits_for_the_lease_of_a_silent_owner_and_charges_no_attempt) {
    virtual_loop loop;
    rig node(loop);
    leave_behind(node);
    auto& inventory = node.wire("inventory");
    const auto seq = node.store.send(node.to("inventory"));
    node.start();
    loop.run_for(9900ms);
    EXPECT_EQ(inventory.sends.size(), 0U);
    loop.run_for(1200ms);
    EXPECT_EQ(inventory.sends.size(), 1U);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    EXPECT_EQ(node.store.tables.holder->owner, "first");
    EXPECT_EQ(node.store.tables.epoch, 4);
}

TEST(take_over, does_not_wait_for_an_owner_that_is_known_to_be_gone) {
    virtual_loop loop;
    rig node(loop);
    leave_behind(node);
    node.owner_is_gone = [](const std::string& owner) { return owner == "killed"; };
    auto& inventory = node.wire("inventory");
    node.store.send(node.to("inventory"));
    node.start();
    EXPECT_EQ(inventory.sends.size(), 1U);
}

TEST(take_over, a_stand_by_sends_nothing_while_the_owner_beats) {
    virtual_loop loop;
    rig first(loop);
    first.start();
    rig second(loop, first.store.share(), "second");
    auto& of_first = first.wire("inventory");
    auto& of_second = second.wire("inventory");
    second.start();
    for (int i = 0; i < 60; ++i) {
        second.store.send(second.to("inventory"));
        loop.run_for(1s);
    }
    EXPECT_EQ(of_second.sends.size(), 0U);
    EXPECT_EQ(of_first.sends.size(), 60U);
    EXPECT_EQ(first.store.tables.epoch, 1);
}

TEST(take_over, comes_soon_after_the_owner_stopped) {
    virtual_loop loop;
    rig first(loop);
    first.start();
    rig second(loop, first.store.share(), "second");
    auto& inventory = second.wire("inventory");
    second.start();
    first.stop();
    EXPECT_EQ(first.store.tables.holder, std::nullopt);
    second.store.send(second.to("inventory"));
    loop.run_for(1100ms);
    EXPECT_EQ(inventory.sends.size(), 1U);
}

TEST(take_over, an_owner_whose_store_is_stuck_stands_down_before_another_takes_over) {
    virtual_loop loop;
    rig first(loop);
    auto& of_first = first.wire("inventory");
    first.start();
    rig second(loop, first.store.share(), "second");
    auto& of_second = second.wire("inventory");
    loop.run_for(500ms);
    second.start();
    loop.run_for(3500ms);  // One beat, at three seconds, seen half a second later.
    first.store.hold(true);
    loop.run_for(9100ms);
    EXPECT_TRUE(first.logged("this node no longer dispatches (epoch 1)"));
    EXPECT_FALSE(second.logged("this node dispatches now"));
    first.store.send(first.to("inventory"));
    loop.run_for(3s);
    EXPECT_TRUE(second.logged("this node dispatches now (epoch 2)"));
    EXPECT_EQ(of_first.sends.size(), 0U);
    EXPECT_EQ(of_second.sends.size(), 1U);
    first.store.hold(false);
    loop.run_for(30s);
    EXPECT_EQ(first.store.tables.epoch, 2);
    EXPECT_EQ(first.count(outbox_status::sent), 1U);
}

TEST(take_over, beats_that_are_refused_at_once_come_at_a_distance) {
    virtual_loop loop;
    rig node(loop);
    node.start();
    constexpr std::size_t refusals = 1000;
    node.store.failures.assign(refusals, error(error_code::store_failed, "the store has stopped"));
    loop.run_for(9s);
    EXPECT_LT(node.store.failures.size(), refusals);
    EXPECT_GT(node.store.failures.size(), refusals - 20);
}

TEST(take_over, an_answer_of_an_old_epoch_is_refused_and_not_charged) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    inventory.delay = 100ms;
    node.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.settle();
    node.store.tables.holder = lease{.owner = "thief", .epoch = 2, .beat = 0};
    node.store.tables.epoch = 2;
    loop.run_for(200ms);
    EXPECT_TRUE(node.logged("lock lost"));
    EXPECT_TRUE(node.logged("this node no longer dispatches (epoch 1)"));
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    const auto sends = inventory.sends.size();
    node.store.send(node.to("inventory"));
    loop.run_for(5s);
    EXPECT_EQ(inventory.sends.size(), sends);  // The hot path is off.
}

TEST(take_over, answers_that_come_after_the_loss_are_dropped) {
    virtual_loop loop;
    rig node(loop);
    auto& slow = node.wire("slow");
    slow.delay = 20s;
    node.start();
    const auto seq = node.store.send(node.to("slow"));
    loop.run_for(1s);
    node.store.tables.holder = lease{.owner = "thief", .epoch = 2, .beat = 0};
    node.store.tables.epoch = 2;
    loop.run_for(3s);  // The next beat is refused.
    EXPECT_TRUE(node.logged("this node no longer dispatches (epoch 1)"));
    loop.run_for(5s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.get().counters().sent, 0U);
    loop.run_for(6s);  // The thief never beats, so its lease ends.
    EXPECT_EQ(node.store.tables.epoch, 3);
    loop.run_for(30s);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
    EXPECT_EQ(slow.sends.size(), 2U);
}

TEST(take_over, what_another_node_sent_meanwhile_is_not_sent_again) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    node.store.tables.holder = lease{.owner = "thief", .epoch = 2, .beat = 0};
    node.store.tables.epoch = 2;
    loop.run_for(4s);
    ASSERT_TRUE(node.logged("this node no longer dispatches (epoch 1)"));
    const auto seq = node.store.send(node.to("inventory"));
    node.store.tables.rows.at(seq).status = outbox_status::sent;
    loop.run_for(30s);
    ASSERT_TRUE(node.logged("this node dispatches now (epoch 3)"));
    EXPECT_EQ(inventory.sends.size(), 0U);
}

TEST(stopping, lets_a_batch_in_flight_end_and_records_it) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.delay = 3s;
    node.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.settle();
    node.stop();
    EXPECT_EQ(loop.time().steady(), steady_time{} + 3s);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
    EXPECT_EQ(node.store.tables.holder, std::nullopt);
}

TEST(stopping, takes_nothing_new) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    inventory.delay = 3s;
    node.start();
    node.store.send(node.to("inventory"));
    loop.settle();
    node.store.send(node.to("inventory"));
    loop.settle();
    node.stop();
    EXPECT_EQ(inventory.sends.size(), 1U);
    EXPECT_EQ(node.count(outbox_status::pending), 1U);
}

TEST(stopping, waits_no_longer_than_the_drain_time_and_charges_nothing) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    inventory.delay = 29s;
    node.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.settle();
    node.stop();
    EXPECT_EQ(loop.time().steady(), steady_time{} + 10s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    EXPECT_EQ(node.store.tables.holder, std::nullopt);
}

TEST(stopping, keeps_the_lease_alive_while_it_drains) {
    virtual_loop loop;
    rig node(loop);
    node.options.drain_time = 25s;
    auto& inventory = node.wire("inventory");
    inventory.delay = 24s;
    node.start();
    rig other(loop, node.store.share(), "second");
    other.wire("inventory");
    other.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.settle();
    node.stop();
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
    EXPECT_EQ(other.wire("inventory").sends.size(), 0U);
}

TEST(stopping, twice_is_safe) {
    virtual_loop loop;
    rig node(loop);
    node.start();
    node.get().stop();
    node.get().stop();
    loop.settle();
    EXPECT_FALSE(node.is_running());
    node.get().stop();
    node.stop();
}

TEST(stopping, a_stand_by_stops_at_once) {
    virtual_loop loop;
    rig node(loop);
    leave_behind(node);
    node.start();
    node.stop();
    EXPECT_EQ(loop.time().steady(), steady_time{});
    EXPECT_EQ(node.store.tables.holder->owner, "killed");
}

}  // namespace
}  // namespace posthorn
