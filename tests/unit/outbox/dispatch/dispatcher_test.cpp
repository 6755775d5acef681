#include "outbox/dispatch/dispatcher.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

TEST(dispatcher, the_hot_path_delivers_without_a_read) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    const auto reads = node.store.reads;
    const auto seq = node.store.send(node.to("inventory"));
    loop.settle();
    EXPECT_EQ(inventory.sends, std::vector{node.row(seq).row.body.id});
    loop.run_for(10ms);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
    EXPECT_EQ(node.store.reads, reads);
    EXPECT_EQ(node.get().counters().sent, 1U);
    EXPECT_TRUE(
        node.logged("[INF] Outbox: Message 00000000-0000-0000-0000-000000000001 sent "
                    "successfully (0ms)"));
}

TEST(dispatcher, sends_what_was_there_when_it_started) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    for (int i = 0; i < 120; ++i) node.store.send(node.to("inventory"));
    node.start();
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{50, 50, 20}));
    loop.run_for(10ms);
    EXPECT_EQ(node.count(outbox_status::sent), 120U);
    EXPECT_EQ(node.get().counters().send_us.view().count(), 120U);
    EXPECT_EQ(node.get().counters().retries.view().counts.front(), 120U);
    loop.run_for(5s);
    EXPECT_EQ(inventory.sends.size(), 120U);
}

TEST(dispatcher, a_lane_that_wakes_looks_for_its_own_messages_alone) {
    virtual_loop loop;
    rig node(loop);
    constexpr int destinations = 60;
    for (int i = 0; i < destinations; ++i) {
        node.wire("dead" + std::to_string(i)).always(outcome::unanswered);
        for (int j = 0; j < 5; ++j) node.store.send(node.to("dead" + std::to_string(i)));
    }
    node.start();
    loop.run_for(2min);  // Their pauses are as long as they get.
    const auto walks = node.store.walks;
    const auto reads = node.store.row_reads;
    loop.run_for(10min);
    // The poll and what it knows of the next one due, once a second each.
    EXPECT_LE(node.store.walks - walks, 1'200);
    // Each is probed about once a minute.
    EXPECT_GE(node.store.row_reads - reads, 8 * destinations);
    EXPECT_LE(node.store.row_reads - reads, 30 * destinations);

    const auto wakes = [&](const std::string& destination) {
        node.wire(destination).always(outcome::delivered);
        loop.run_for(1min);
        return node.wire(destination).sends.size();
    };
    EXPECT_GE(wakes("dead7"), 5U);
    EXPECT_EQ(node.count(outbox_status::sent), 5U);
}

TEST(dispatcher, an_overflowing_hand_over_loses_nothing) {
    virtual_loop loop;
    rig node(loop);
    node.options.hand_over_rows = 10;
    node.options.poll_interval = 1h;
    auto& inventory = node.wire("inventory");
    node.start();
    for (int i = 0; i < 100; ++i) node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(node.get().counters().overflowed, 90U);
    EXPECT_EQ(node.count(outbox_status::sent), 100U);
    EXPECT_EQ(inventory.sends.size(), 100U);
}

TEST(dispatcher, a_full_lane_loses_nothing_and_refills_itself) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_rows = 8;
    node.options.lane.batch_rows = 2;
    node.options.poll_interval = 1h;
    auto& inventory = node.wire("inventory");
    inventory.delay = 1ms;
    node.start();
    for (int i = 0; i < 200; ++i) node.store.send(node.to("inventory"));
    loop.run_for(10s);
    EXPECT_EQ(node.count(outbox_status::sent), 200U);
    EXPECT_EQ(inventory.sends.size(), 200U);
}

TEST(dispatcher, a_backlog_larger_than_the_window_drains_without_polls) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_rows = 10;
    node.options.poll_interval = 1h;
    auto& inventory = node.wire("inventory");
    for (int i = 0; i < 105; ++i) node.store.send(node.to("inventory"));
    node.start();
    loop.run_for(10s);
    EXPECT_EQ(node.count(outbox_status::sent), 105U);
    EXPECT_EQ(inventory.sends.size(), 105U);
}

TEST(dispatcher, retries_after_2_4_8_16_32_seconds_and_then_buries) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    node.start();
    const auto begun = loop.time().wall();
    const auto seq = node.store.send(node.to("inventory"));
    loop.run_for(10min);
    std::vector<std::chrono::milliseconds> after;
    for (const auto at : inventory.sent_at) after.push_back(at - begun);
    EXPECT_EQ(after, (std::vector<std::chrono::milliseconds>{0s, 2s, 6s, 14s, 30s, 62s}));
    EXPECT_EQ(node.row(seq).status, outbox_status::dead);
    EXPECT_EQ(node.row(seq).row.attempts, 6);
    EXPECT_EQ(node.row(seq).error, "refused");
    EXPECT_TRUE(
        node.logged("[WRN] Outbox: Message 00000000-0000-0000-0000-000000000001 send "
                    "failed, retry 5/5: refused"));
    EXPECT_TRUE(
        node.logged("[ERR] Outbox: Message 00000000-0000-0000-0000-000000000001 "
                    "permanently failed after 5 retries"));
    EXPECT_EQ(node.get().counters().retries.view().count(), 1U);
    EXPECT_EQ(node.get().counters().retries.view().sum, 5U);
    EXPECT_EQ(node.get().counters().send_us.view().count(), 6U);
}

TEST(dispatcher, jitter_delays_a_retry_by_at_most_its_maximum) {
    for (const auto& [value, expected] :
         {std::pair{std::uint64_t{0}, 2000ms}, {~std::uint64_t{0}, 2499ms}}) {
        virtual_loop loop;
        rig node(loop);
        node.retries = {};
        auto& inventory = node.wire("inventory");
        inventory.always(outcome::transient);
        node.random.set(value);
        node.start();
        node.store.send(node.to("inventory"));
        loop.run_for(3s);
        ASSERT_EQ(inventory.sent_at.size(), 2U);
        EXPECT_EQ(inventory.sent_at[1] - inventory.sent_at[0], expected);
    }
}

TEST(dispatcher, a_retry_sooner_than_the_poll_is_punctual) {
    virtual_loop loop;
    rig node(loop);
    node.retries = retry_policy(fixed_backoff{150ms});
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(500ms);
    ASSERT_GE(inventory.sent_at.size(), 3U);
    EXPECT_EQ(inventory.sent_at[1] - inventory.sent_at[0], 150ms);
    EXPECT_EQ(inventory.sent_at[2] - inventory.sent_at[1], 150ms);
}

TEST(dispatcher, a_dead_destination_does_not_delay_another) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_rows = 20;
    auto& dead = node.wire("dead");
    dead.delay = 1h;
    auto& alive = node.wire("alive");
    node.start();
    for (int i = 0; i < 100; ++i) node.store.send(node.to("dead"));
    loop.settle();
    const auto begun = loop.time().wall();
    for (int i = 0; i < 10; ++i) node.store.send(node.to("alive"));
    loop.settle();
    EXPECT_EQ(alive.sends.size(), 10U);
    EXPECT_EQ(loop.time().wall(), begun);
}

TEST(dispatcher, an_attempt_that_takes_too_long_ends_and_charges_nothing) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.delay = 1h;
    node.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.run_for(31s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    EXPECT_EQ(node.row(seq).error, "timed out: not finished within 30000 ms");
}

TEST(dispatcher, an_answer_that_leaves_a_message_out_is_a_failure_of_that_message) {
    class short_wire final : public transport {
    public:
        task<std::vector<delivery>> deliver(message_batch) override {
            co_return std::vector{delivery{.what = outcome::delivered,
                                           .duplicate = false,
                                           .payload = {},
                                           .error = {},
                                           .retry_after = {}}};
        }
    };
    virtual_loop loop;
    rig node(loop);
    short_wire wire;
    node.replace("inventory", &wire);
    const auto first = node.store.send(node.to("inventory"));
    const auto second = node.store.send(node.to("inventory"));
    node.start();
    loop.run_for(10ms);
    EXPECT_EQ(node.row(first).status, outbox_status::sent);
    EXPECT_EQ(node.row(second).status, outbox_status::pending);
    EXPECT_EQ(node.row(second).row.attempts, 1);
}

TEST(dispatcher, a_transport_that_throws_is_survived_and_charges_nothing) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.answer = [](const message&) -> delivery { throw std::runtime_error("broken"); };
    node.start();
    const auto seq = node.store.send(node.to("inventory"));
    loop.run_for(10ms);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    EXPECT_EQ(node.row(seq).error, "the transport failed: broken");
}

TEST(dispatcher, a_message_expires_at_its_time_without_another_attempt) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    node.start();
    auto body = node.to("inventory");
    body.expires_at = loop.time().wall() + 5s;
    const auto seq = node.store.send(body);
    loop.run_for(5s);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    loop.run_for(10ms);
    EXPECT_EQ(node.row(seq).status, outbox_status::expired);
    EXPECT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(node.get().counters().expired, 1U);
}

TEST(dispatcher, a_message_to_a_url_without_a_route_says_which_setting_would_send_it) {
    virtual_loop loop;
    rig node(loop);
    node.start();
    const auto seq = node.store.send(node.to("https://stock.example"));
    loop.run_for(10ms);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).error,
              "no route to 'https://stock.example'; add it under [routes], or in C++ to the node's "
              "routes, or let URLs be sent to: urls.enabled = true");
}

TEST(dispatcher, a_message_without_a_route_stays_pending_uncharged_and_raises_an_alarm) {
    virtual_loop loop;
    rig node(loop);
    node.start();
    const auto seq = node.store.send(node.to("nowhere"));
    loop.run_for(10ms);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    EXPECT_EQ(node.row(seq).row.attempts, 0);
    EXPECT_EQ(node.row(seq).error,
              "no route to 'nowhere'; add it under [routes], or in C++ to the node's routes");
    EXPECT_EQ(node.get().counters().undeliverable, 1U);
    EXPECT_EQ(node.get().counters().send_us.view().count(), 0U);  // It was on no wire.
    EXPECT_TRUE(is_undeliverable_error(node.row(seq).error));
    EXPECT_TRUE(node.logged("[ERR] Outbox: 1 message for nowhere is undeliverable"));
    auto& nowhere = node.wire("nowhere");
    loop.run_for(31s);
    EXPECT_EQ(nowhere.sends.size(), 1U);
    EXPECT_EQ(node.row(seq).status, outbox_status::sent);
}

TEST(dispatcher, without_a_route_it_does_not_turn_the_whole_table_over) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_rows = 10;
    for (int i = 0; i < 100; ++i) node.store.send(node.to("nowhere"));
    node.start();
    loop.run_for(29s);
    EXPECT_EQ(node.get().counters().undeliverable, 10U);
    node.wire("nowhere");
    loop.run_for(32s);
    EXPECT_EQ(node.count(outbox_status::sent), 100U);
}

TEST(dispatcher, waits_for_deliver_at_and_is_then_punctual) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    auto body = node.to("inventory");
    body.deliver_at = loop.time().wall() + 12'345ms;
    node.store.send(body);
    loop.run_for(1min);
    ASSERT_EQ(inventory.sent_at.size(), 1U);
    EXPECT_EQ(inventory.sent_at[0], *body.deliver_at);
}

TEST(dispatcher, buries_bad_rows_which_block_nothing) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    const auto bad = node.store.write_foreign(node.to("inventory"), "its type is unknown");
    const auto good = node.store.write_foreign(node.to("inventory"));
    node.start();
    loop.run_for(10ms);
    EXPECT_EQ(node.row(bad).status, outbox_status::dead);
    EXPECT_EQ(node.row(bad).error, "its type is unknown");
    EXPECT_EQ(node.row(bad).row.attempts, 0);
    EXPECT_EQ(node.row(good).status, outbox_status::sent);
    EXPECT_EQ(inventory.sends.size(), 1U);
}

TEST(dispatcher, sends_foreign_rows_only_past_a_barrier) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.store.write_foreign(node.to("inventory"));
    node.start();
    EXPECT_EQ(inventory.sends.size(), 1U);
    EXPECT_EQ(node.store.barriers, 1);
    node.store.write_foreign(node.to("inventory"));
    node.get().wake();
    loop.settle();
    EXPECT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(node.store.barriers, 2);
    EXPECT_EQ(inventory.unsynced_sends, 0);
}

TEST(dispatcher, a_watcher_that_saw_the_change_first_does_not_hide_it) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.store.write_foreign(node.to("inventory"));
    node.start();
    ASSERT_EQ(node.store.barriers, 1);  // The distrust of the start is over.
    node.store.write_foreign(node.to("inventory"));
    EXPECT_TRUE(loop.run(node.get().changed_by_others()));
    node.get().wake();
    loop.settle();
    EXPECT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(inventory.unsynced_sends, 0);
}

TEST(dispatcher, a_writer_that_saw_the_change_first_does_not_hide_it) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.store.write_foreign(node.to("inventory"));
    node.start();
    ASSERT_EQ(node.store.barriers, 1);  // The distrust of the start is over.
    loop.run_for(1s);
    node.store.write_foreign(node.to("inventory"));
    node.store.announce_foreign();
    loop.settle();
    EXPECT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(inventory.unsynced_sends, 0);
}

TEST(dispatcher, its_own_retries_cost_no_barrier) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient);
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(3s);
    ASSERT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(node.store.barriers, 1);  // The first sweep that finds rows trusts nobody.
    loop.run_for(10s);
    ASSERT_EQ(inventory.sends.size(), 3U);
    EXPECT_EQ(node.store.barriers, 1);
}

TEST(dispatcher, an_idle_lane_goes_away_and_comes_back) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(4min);
    EXPECT_EQ(node.get().counters().lanes, 1U);
    loop.run_for(2min);
    EXPECT_EQ(node.get().counters().lanes, 0U);
    node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(node.get().counters().lanes, 1U);
    EXPECT_EQ(inventory.sends.size(), 2U);
    EXPECT_EQ(node.count(outbox_status::sent), 2U);
}

TEST(dispatcher, has_a_message_prepared_while_its_commit_is_waited_for_and_sends_it_after) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    const auto body = node.to("inventory");
    node.get().committing({.seq = 1, .body = body});
    loop.settle();
    EXPECT_EQ(inventory.prepared, std::vector{body.id});
    EXPECT_TRUE(inventory.sends.empty());
    node.store.send(body);
    loop.settle();
    EXPECT_EQ(inventory.sends, std::vector{body.id});
}

TEST(dispatcher, has_nothing_prepared_that_is_not_to_be_sent_soon) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.start();
    auto later = node.to("inventory");
    later.deliver_at = loop.time().wall() + 1h;
    node.get().committing({.seq = 1, .body = later});
    loop.settle();
    node.get().committing({.seq = 2, .body = node.to("inventory"), .parked = true});
    loop.settle();
    node.get().committing({.seq = 3, .body = node.to("nowhere")});
    loop.settle();
    EXPECT_TRUE(inventory.prepared.empty());
}

}  // namespace
}  // namespace posthorn
