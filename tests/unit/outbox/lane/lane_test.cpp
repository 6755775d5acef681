#include "outbox/lane/lane.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

delivery silence() {
    return {.what = outcome::transient, .error = "nobody there", .code = error_code::unreachable};
}

lane_state state_of(rig& node, std::string_view destination) {
    for (const auto& one : node.get().counters().board.list())
        if (one.destination == destination) return one;
    return {};
}

/// What everybody at one destination gets to hear.
void fall_silent(test::fake_wire& wire) {
    wire.answer = [](const message&) { return silence(); };
}

std::size_t attempts_charged(const rig& node) {
    std::size_t all = 0;
    for (const auto& [seq, one] : node.store.tables.rows)
        all += static_cast<std::size_t>(one.row.attempts);
    return all;
}

TEST(lane, sends_nothing_to_one_that_does_not_answer_but_a_probe_now_and_then) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    auto& inventory = node.wire("inventory");
    fall_silent(inventory);
    node.start();
    for (int i = 0; i < 20; ++i) node.store.send(node.to("inventory"));
    loop.run_for(900ms);
    // The window, and one more for each that failed before it opened.
    EXPECT_EQ(inventory.sends.size(), 12U);
    EXPECT_EQ(attempts_charged(node), 0U);
    EXPECT_EQ(node.get().counters().spared, 12U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::open);
    EXPECT_EQ(state_of(node, "inventory").cause, silence().error);
    EXPECT_TRUE(state_of(node, "inventory").is_fault);
    EXPECT_TRUE(node.logged("inventory gives no answer that counts"));
    const auto since = state_of(node, "inventory").since;
    ASSERT_TRUE(since);
    EXPECT_LE(*since, loop.time().wall());
    loop.run_for(200ms);
    EXPECT_EQ(inventory.sends.size(), 13U);  // After a second, the probe.
    loop.run_for(2s);
    EXPECT_EQ(inventory.sends.size(), 14U);
    EXPECT_EQ(state_of(node, "inventory").since, since) << "a probe does not begin it anew";
    loop.run_for(4s);
    EXPECT_EQ(inventory.sends.size(), 15U);
}

TEST(lane, goes_no_deeper_for_each_batch_that_is_answered_at_once) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    auto& inventory = node.wire("inventory");
    inventory.at_once = true;
    std::uintptr_t lowest = std::numeric_limits<std::uintptr_t>::max(), highest = 0;
    inventory.answer = [&](const message&) {
        // Not a variable's address: a sanitizer keeps those elsewhere.
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest = std::min(lowest, here);
        highest = std::max(highest, here);
        return delivery{.what = outcome::delivered};
    };
    node.start();
    for (int i = 0; i < 500; ++i) node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(inventory.sends.size(), 500U);
    EXPECT_LT(highest - lowest, 20'000U);
}

TEST(lane, gives_up_each_batch_after_its_own_time_and_keeps_the_others) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    node.options.lane.attempt_timeout = 10s;
    auto& inventory = node.wire("inventory");
    inventory.delay = 1h;
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(4s);
    node.store.send(node.to("inventory"));
    loop.run_for(3s);
    inventory.delay = 1s;
    node.store.send(node.to("inventory"));
    loop.run_for(2s);
    EXPECT_EQ(node.count(outbox_status::sent), 1U);
    EXPECT_EQ(node.get().counters().spared, 0U);
    inventory.delay = 1h;
    loop.run_for(1500ms);
    EXPECT_EQ(node.get().counters().spared, 1U);
    EXPECT_EQ(state_of(node, "inventory").cause, "timed out: not finished within 10000 ms");
    loop.run_for(4s);
    EXPECT_EQ(node.get().counters().spared, 2U);
    EXPECT_EQ(attempts_charged(node), 0U);
}

TEST(lane, probes_at_once_when_a_person_says_so) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    fall_silent(inventory);
    node.start();
    for (int i = 0; i < 20; ++i) node.store.send(node.to("inventory"));
    loop.run_for(10min);  // By now a minute passes between two probes.
    inventory.always(outcome::delivered);
    node.get().try_now("inventory");
    loop.run_for(2s);
    EXPECT_EQ(node.count(outbox_status::sent), 20U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::running);
    EXPECT_EQ(state_of(node, "inventory").cause, "");
}

// What a proxy says in the receiver's place stands for one message alone.
TEST(lane, tries_what_was_told_to_wait_at_once_when_a_person_says_so) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    inventory.answer = [](const message&) {
        return delivery{.what = outcome::throttled, .error = "503", .retry_after = 1h};
    };
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(inventory.sends.size(), 1U);
    inventory.always(outcome::delivered);
    loop.run_for(10s);
    EXPECT_EQ(node.count(outbox_status::sent), 0U) << "by itself it waits";
    node.get().try_now("inventory");
    loop.run_for(2s);
    EXPECT_EQ(node.count(outbox_status::sent), 1U);
    node.get().try_now("inventory");
    loop.run_for(2s);
    EXPECT_EQ(inventory.sends.size(), 2U) << "what is done is not tried again";
}

TEST(lane, names_what_holds_some_messages_up_though_others_pass) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    bool is_down = true;
    inventory.answer = [&](const message& what) {
        if (!is_down || what.endpoint != "Reserve") return delivery{.what = outcome::delivered};
        return delivery{.what = outcome::throttled,
                        .error = "its web service is away",
                        .retry_after = 5s,
                        .code = error_code::handler_unreachable};
    };
    node.start();
    auto held_up = node.to("inventory");
    held_up.endpoint = "Reserve";
    node.store.send(held_up);
    node.store.send(node.to("inventory"));
    loop.run_for(3s);
    EXPECT_EQ(node.count(outbox_status::sent), 1U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::running);
    EXPECT_EQ(state_of(node, "inventory").cause, "its web service is away");
    EXPECT_TRUE(state_of(node, "inventory").is_fault);
    is_down = false;
    loop.run_for(30s);
    EXPECT_EQ(node.count(outbox_status::sent), 2U);
    EXPECT_EQ(attempts_charged(node), 0U);
    EXPECT_EQ(state_of(node, "inventory").cause, "");
}

TEST(lane, charges_no_message_for_an_outage_however_long) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    fall_silent(inventory);
    node.start();
    for (int i = 0; i < 100; ++i) node.store.send(node.to("inventory"));
    loop.run_for(20min);
    EXPECT_EQ(node.count(outbox_status::dead), 0U);
    EXPECT_EQ(node.count(outbox_status::pending), 100U);
    EXPECT_EQ(attempts_charged(node), 0U);
    inventory.always(outcome::delivered);
    loop.run_for(61s);
    EXPECT_EQ(node.count(outbox_status::sent), 100U);
    EXPECT_EQ(state_of(node, "inventory").breaker, breaker::state::closed);
    EXPECT_EQ(state_of(node, "inventory").since, std::nullopt);
    EXPECT_TRUE(node.logged("inventory answers again"));
}

TEST(lane, probes_with_another_message_each_time_so_that_poison_does_not_keep_it_shut) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    uuid poison{};
    bool all_silent = true;
    inventory.answer = [&](const message& one) {
        return all_silent || one.id == poison ? silence() : delivery{.what = outcome::delivered};
    };
    node.start();
    for (int i = 0; i < 6; ++i) node.store.send(node.to("inventory"));
    loop.run_for(500ms);
    ASSERT_EQ(state_of(node, "inventory").mode, lane_mode::open);
    all_silent = false;
    poison = node.row(6).row.body.id;  // The first that was not tried: the next probe.
    loop.run_for(1min);
    EXPECT_EQ(node.count(outbox_status::sent), 5U);
    EXPECT_EQ(node.row(6).status, outbox_status::pending);
}

TEST(lane, is_not_shut_by_a_message_that_is_poison) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    auto& inventory = node.wire("inventory");
    inventory.always(outcome::transient, "the handler threw");
    node.start();
    for (int i = 0; i < 50; ++i) node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(inventory.sends.size(), 50U);
    EXPECT_EQ(attempts_charged(node), 50U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::running);
}

TEST(lane, sends_smaller_batches_to_one_that_is_slow_and_larger_ones_when_it_is_well) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    inventory.delay = 10s;
    node.start();
    for (int i = 0; i < 60; ++i) node.store.send(node.to("inventory"));
    loop.run_for(35s);
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{50, 10}));
    inventory.batches.clear();
    for (int i = 0; i < 60; ++i) node.store.send(node.to("inventory"));
    loop.run_for(15s);
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{12, 6}));
    inventory.delay = 0s;
    loop.run_for(10s);
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{12, 6, 3, 6, 12, 21}));
}

TEST(lane, gives_a_stranger_that_is_quick_more_at_a_time_and_others_as_many_as_configured) {
    virtual_loop loop;
    rig node(loop);
    node.limits_of["stranger"] = {.window = 4, .batch = 1, .failures_shut = true};
    node.limits_of["friend"] = {.window = 4, .batch = 1};
    node.wire("stranger").delay = 100ms;
    node.wire("friend").delay = 100ms;
    node.start();
    for (int i = 0; i < 120; ++i)
        for (const auto* const each : {"stranger", "friend"}) node.store.send(node.to(each));
    loop.run_for(1050ms);  // Eleven rounds: of 4, 5, 6 and so on, and of 4 each.
    EXPECT_EQ(node.wire("stranger").sends.size(), 99U);
    EXPECT_EQ(node.wire("friend").sends.size(), 44U);
}

TEST(lane, keeps_to_its_rate_without_losing_or_repeating_anything) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.rate = {.per_second = 100, .burst = 10};
    node.options.lane.window_rows = 50;
    auto& inventory = node.wire("inventory");
    node.start();
    for (int i = 0; i < 400; ++i) node.store.send(node.to("inventory"));
    loop.settle();
    EXPECT_EQ(inventory.sends.size(), 10U);
    loop.run_for(1s);
    EXPECT_GE(inventory.sends.size(), 105U);
    EXPECT_LE(inventory.sends.size(), 110U);
    loop.run_for(4s);
    EXPECT_EQ(inventory.sends.size(), 400U);
    EXPECT_EQ(node.count(outbox_status::sent), 400U);
}

TEST(lane, keeps_few_large_messages_in_memory_and_loses_none_of_the_rest) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_bytes = 10'000;
    node.options.lane.batch_rows = 1;
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    inventory.delay = 100ms;
    node.start();
    auto large = node.to("inventory");
    large.payload = '"' + std::string(3'000, 'x') + '"';
    for (int i = 0; i < 50; ++i) {
        large.id = node.to("inventory").id;
        node.store.send(large);
    }
    loop.run_for(2s);
    EXPECT_LE(state_of(node, "inventory").queued, 4U);
    loop.run_for(10s);
    EXPECT_EQ(node.count(outbox_status::sent), 50U);
    EXPECT_EQ(inventory.sends.size(), 50U);
}

TEST(lane, all_of_them_together_hold_no_more_bytes_than_they_may) {
    virtual_loop loop;
    rig node(loop);
    constexpr std::size_t message_bytes = 3'000;
    node.options.lanes_bytes_max = 20'000;
    node.options.lane.window_bytes = 12'000;
    node.options.hand_over_bytes = 10'000;
    const std::vector<std::string> peers{"slow", "slower", "slowest", "quick"};
    for (const auto& peer : peers) node.wire(peer).delay = peer == "quick" ? 1ms : 10s;
    node.start();
    for (int i = 0; i < 40; ++i)
        for (const auto& peer : peers) {
            auto large = node.to(peer);
            large.payload = std::string(message_bytes, 'x');
            node.store.send(large);
        }
    loop.run_for(9s);
    EXPECT_EQ(node.wire("quick").sends.size(), 40U) << "it need not wait for the slow ones";
    loop.run_for(20min);
    EXPECT_EQ(node.count(outbox_status::sent), 160U);
    const auto& memory = node.get().counters().memory;
    EXPECT_EQ(memory.held(), 0U);
    // One goes past the bound, and each lane that has nothing may have one.
    EXPECT_LE(memory.highest(), 20'000 + 5 * (message_bytes + 100));
}

TEST(lane, rests_as_a_whole_when_the_receiver_speaks_for_itself) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    inventory.answer = [](const message&) {
        return delivery{.what = outcome::throttled,
                        .error = "busy",
                        .retry_after = 20s,
                        .code = error_code::overloaded};
    };
    node.start();
    for (int i = 0; i < 10; ++i) node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(inventory.sends.size(), 1U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::throttled);
    EXPECT_EQ(attempts_charged(node), 0U);
    inventory.always(outcome::delivered);
    loop.run_for(18s);
    EXPECT_EQ(inventory.sends.size(), 1U);
    loop.run_for(2s);
    EXPECT_EQ(node.count(outbox_status::sent), 10U);
}

TEST(lane, lets_others_pass_a_message_that_is_in_progress) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    const auto first = node.to("inventory");
    inventory.answer = [id = first.id](const message& one) {
        if (one.id != id) return delivery{.what = outcome::delivered};
        return delivery{.what = outcome::throttled, .error = "in progress", .retry_after = 20s};
    };
    node.start();
    node.store.send(first);
    for (int i = 0; i < 9; ++i) node.store.send(node.to("inventory"));
    loop.run_for(1s);
    EXPECT_EQ(node.count(outbox_status::sent), 9U);
}

TEST(lane, sends_nothing_while_it_is_paused_and_everything_after_that) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    auto& billing = node.wire("billing");
    node.start();
    node.store.tables.paused["inventory"] = {.destination = "inventory", .reason = "stocktaking"};
    node.get().wake();
    loop.settle();
    for (int i = 0; i < 10; ++i) node.store.send(node.to("inventory"));
    node.store.send(node.to("billing"));
    loop.run_for(1h);
    EXPECT_TRUE(inventory.sends.empty());
    EXPECT_EQ(billing.sends.size(), 1U);
    EXPECT_EQ(state_of(node, "inventory").mode, lane_mode::paused);
    EXPECT_EQ(node.get().counters().overflowed, 0U);
    node.store.tables.paused.clear();
    loop.run_for(1100ms);
    EXPECT_EQ(node.count(outbox_status::sent), 11U);
}

TEST(lane, prepares_nothing_while_it_may_not_send) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    auto& inventory = node.wire("inventory");
    auto& silent = node.wire("silent");
    fall_silent(silent);
    node.store.tables.paused["inventory"] = {.destination = "inventory"};
    node.start();
    for (int i = 0; i < 20; ++i) node.store.send(node.to("silent"));
    loop.run_for(900ms);
    for (const auto* const one : {"inventory", "silent"}) {
        node.get().committing({.seq = 100, .body = node.to(one)});
        loop.settle();
    }
    EXPECT_TRUE(inventory.prepared.empty());
    EXPECT_TRUE(silent.prepared.empty());
}

TEST(lane, that_was_paused_before_the_start_sends_nothing_of_the_hot_path_either) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.store.tables.paused["inventory"] = {.destination = "inventory"};
    node.store.send(node.to("inventory"));
    node.start();
    node.store.send(node.to("inventory"));
    loop.run_for(10s);
    EXPECT_TRUE(inventory.sends.empty());
}

TEST(lane, serves_tenants_in_turn_and_the_urgent_first) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.batch_rows = 1;
    node.options.lane.batches_in_flight_max = 1;
    auto& inventory = node.wire("inventory");
    inventory.delay = 1ms;
    std::string order;
    inventory.answer = [&](const message& one) {
        order += one.tenant + std::to_string(one.priority) + " ";
        return delivery{.what = outcome::delivered};
    };
    const auto send = [&](std::string tenant, std::int32_t priority) {
        auto body = node.to("inventory");
        body.tenant = std::move(tenant);
        body.priority = priority;
        node.store.send(std::move(body));
    };
    for (int i = 0; i < 3; ++i) send("a", 0);
    send("a", 9);
    send("b", 0);
    node.start();
    loop.run_for(1s);
    EXPECT_EQ(order, "a9 b0 a0 a0 a0 ");
}

TEST(lane, looks_for_a_route_at_once_when_routes_change) {
    virtual_loop loop;
    rig node(loop);
    node.start();
    for (int i = 0; i < 10; ++i) node.store.send(node.to("nowhere"));
    loop.run_for(2s);
    EXPECT_EQ(state_of(node, "nowhere").mode, lane_mode::no_route);
    auto& wire = node.wire("nowhere");
    loop.run_for(2s);
    EXPECT_TRUE(wire.sends.empty());
    node.get().routes_changed();
    loop.run_for(100ms);
    EXPECT_EQ(wire.sends.size(), 10U);
}

TEST(lane, takes_new_limits_over_while_it_runs) {
    virtual_loop loop;
    rig node(loop);
    auto& inventory = node.wire("inventory");
    node.limits_of["inventory"] = {.window = 2, .batch = 3};
    inventory.delay = 1s;
    node.start();
    for (int i = 0; i < 30; ++i) node.store.send(node.to("inventory"));
    loop.run_for(500ms);
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{3, 3}));
    inventory.batches.clear();
    node.limits_of["inventory"] = {.window = 4, .batch = 5};
    node.get().routes_changed();
    loop.settle();
    EXPECT_EQ(inventory.batches, (std::vector<std::size_t>{5, 5}));
    loop.run_for(10s);
    EXPECT_EQ(inventory.sends.size(), 30U);
    EXPECT_EQ(state_of(node, "inventory").window, 4U);
}

TEST(lane, expires_what_waits_in_memory_for_the_rate) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.rate = {.per_second = 0.001};
    node.wire("inventory");
    node.start();
    for (int i = 0; i < 10; ++i) {
        auto body = node.to("inventory");
        body.expires_at = loop.time().wall() + 5s;
        node.store.send(std::move(body));
    }
    loop.run_for(10s);
    EXPECT_EQ(node.count(outbox_status::sent), 1U);
    EXPECT_EQ(node.count(outbox_status::expired), 9U);
}

TEST(lane, that_is_shut_lets_messages_expire_within_half_a_minute) {
    virtual_loop loop;
    rig node(loop);
    node.options.lane.window_rows = 10;
    node.options.expiry.rows_max = 7;
    fall_silent(node.wire("silent"));
    node.wire("paused");
    node.store.tables.paused["paused"] = {.destination = "paused"};
    node.start();
    std::vector<std::int64_t> early, late;
    for (int i = 0; i < 100; ++i) {
        auto body = node.to(i % 2 == 0 ? "silent" : "paused");
        body.expires_at = loop.time().wall() + (i < 60 ? 1h : 10h);
        (i < 60 ? early : late).push_back(node.store.send(std::move(body)));
    }
    loop.run_for(1h - 1s);
    EXPECT_EQ(node.count(outbox_status::pending), 100U);
    loop.run_for(31s);
    for (const auto seq : early) EXPECT_EQ(node.row(seq).status, outbox_status::expired) << seq;
    for (const auto seq : late) EXPECT_EQ(node.row(seq).status, outbox_status::pending) << seq;
}

TEST(lane, that_is_shut_lets_nothing_expire_while_the_clock_is_in_doubt) {
    virtual_loop loop;
    rig node(loop);
    node.store.tables.paused["paused"] = {.destination = "paused"};
    node.wire("paused");
    node.start();
    const auto seq = node.store.send(node.to("paused"));
    loop.run_for(1min);
    loop.time().jump_wall(48h);
    loop.run_for(50min);
    EXPECT_EQ(node.row(seq).status, outbox_status::pending);
    loop.run_for(11min);
    EXPECT_EQ(node.row(seq).status, outbox_status::expired);
}

TEST(lane, that_is_dead_costs_the_others_nothing) {
    virtual_loop loop;
    rig node(loop);
    auto& dead = node.wire("dead");
    dead.delay = 1h;  // It hangs.
    auto& well = node.wire("well");
    node.start();
    for (int i = 0; i < 500; ++i) node.store.send(node.to("dead"));
    loop.run_for(10min);
    const auto before = loop.time().wall();
    node.store.send(node.to("well"));
    loop.settle();
    ASSERT_EQ(well.sent_at.size(), 1U);
    EXPECT_EQ(well.sent_at.front(), before);
}

}  // namespace
}  // namespace posthorn
