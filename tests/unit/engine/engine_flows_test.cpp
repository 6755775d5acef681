// The ways in which workflows are written, on a real node: many calls, first of several, time limits.
#include <algorithm>

#include <gmock/gmock.h>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

struct offer {
    std::int64_t cents = 0;
};
struct ask_bank {
    using contract = posthorn::as_command<"AskBank", offer>;
    std::string bank;
};
using market = posthorn::service<"market", 1, ask_bank>;

workflow<std::int64_t> add_all(flow<>& f, std::vector<std::string> banks) {
    std::vector<posthorn::pending<offer>> offers;
    for (const auto& bank : banks) offers.push_back(f.call<market>(ask_bank{bank}));
    std::int64_t sum = 0;
    for (const auto& each : co_await f.all(std::move(offers))) sum += each.cents;
    co_return sum;
}
POSTHORN_WORKFLOW(add_all, "AddAll", 1)

/// Takes the first offer, and does not wait for the other.
workflow<std::int64_t> take_first(flow<phase>& f, std::string id) {
    std::int64_t cents = 0;
    {
        auto next =
            co_await f.first(f.call<market>(ask_bank{"quick"}), f.call<market>(ask_bank{"slow"}));
        std::visit([&](const offer& each) { cents = each.cents; }, next);
    }
    f.state.now = "decided";
    co_await f.wait(the<&decided::order_id> == id);
    co_return cents;
}
POSTHORN_WORKFLOW(take_first, "TakeFirst", 1)

workflow<std::string> hears(flow<>& f, std::string id) {
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    co_return heard.by;
}
POSTHORN_WORKFLOW(hears, "HearsOf", 1)

workflow<std::string> waits_twice(flow<phase>& f, std::string id) {
    const auto early = co_await f.wait(the<&decided::order_id> == id).within(1ms);
    if (early) co_return "in time";
    f.state.now = "late";
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    co_return heard.by;
}
POSTHORN_WORKFLOW(waits_twice, "WaitsTwice", 1)

struct plan {
    std::string card = "none";
    int months_paid = 0;
    posthorn::wall_time paid_until{};
};
struct card_changed {
    using contract = posthorn::as_signal<"CardChanged">;
    std::string customer, card;
};
struct left {
    using contract = posthorn::as_signal<"Left">;
    std::string customer;
};

/// A state machine over signals and time; a month is a millisecond.
workflow<int> subscribe(flow<plan>& f, std::string customer) {
    f.state.paid_until = f.now();
    auto end = f.wait(the<&left::customer> == customer);
    while (f.state.months_paid < 5) {
        auto next = co_await f.first(end, f.wait(the<&card_changed::customer> == customer),
                                     f.sleep_until(f.state.paid_until));
        if (next.index() == 0) break;
        if (next.index() == 1) {
            f.state.card = std::get<1>(next).card;
            continue;
        }
        co_await f.call<market>(ask_bank{f.state.card});
        ++f.state.months_paid;
        f.state.paid_until += f.state.card == "none" ? 1ms : 1h;
    }
    co_return f.state.months_paid;
}
POSTHORN_WORKFLOW(subscribe, "Subscribe", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using namespace shop;
using namespace std::chrono_literals;

class flows_of_an_engine : public engine_test {
protected:
    flows_of_an_engine() {
        market_node.handle("market/v1/AskBank", [this](context&, const message& received) {
            ++asked;
            if (received.payload.contains("slow") && is_closed) throw std::runtime_error("closed");
            return std::string(R"({"cents":10})");
        });
    }
    void start() {
        market_node.start();
        shop_node.start();
    }

    std::atomic<int> asked = 0;
    std::atomic<bool> is_closed = false;
    node market_node{options("market")};
    node shop_node{options("shop")};
};

TEST_F(flows_of_an_engine, make_many_calls_in_one_commit_and_take_each_answer_once) {
    shop_node.add(add_all);
    start();
    constexpr std::size_t count = 40;
    shop_node.transact(
        [](transaction& tx) { tx.start(add_all, "a", std::vector<std::string>(count, "any")); });
    EXPECT_EQ(shop_node.wait_for_end(add_all, "a", 60s).result, "400") << logged();
    EXPECT_EQ(asked, static_cast<int>(count));
    EXPECT_EQ(shop_node.find(add_all, "a")->steps, 1 + count);
}

TEST_F(flows_of_an_engine, ignore_an_answer_that_they_no_longer_wait_for_without_a_step) {
    is_closed = true;
    shop_node.add(take_first);
    start();
    shop_node.transact([](transaction& tx) { tx.start(take_first, "f", "x"); });
    ASSERT_TRUE(becomes(shop_node, take_first, "f", [](const workflow_view& seen) {
        return seen.state.contains("decided");
    })) << logged();
    const auto steps = shop_node.find(take_first, "f")->steps;
    is_closed = false;
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_calls") == 0; }));
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_mailbox") == 0; }));
    EXPECT_EQ(shop_node.find(take_first, "f")->steps, steps);
    shop_node.signal(decided{"x", "ann", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(take_first, "f", 30s).result, "10");
}

TEST_F(flows_of_an_engine, keep_a_signal_for_the_next_wait_when_the_time_of_one_is_over) {
    shop_node.add(waits_twice);
    start();
    shop_node.transact([](transaction& tx) { tx.start(waits_twice, "w", "x"); });
    ASSERT_TRUE(becomes(shop_node, waits_twice, "w", [](const workflow_view& seen) {
        return seen.state.contains("late");
    })) << logged();
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_waits"), 1) << "the first is gone";
    shop_node.signal(decided{"x", "bob", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(waits_twice, "w", 30s).result, R"("bob")");
}

TEST_F(flows_of_an_engine, are_not_guessed_at_where_a_signal_lacks_what_they_wait_by) {
    shop_node.add(hears);
    start();
    shop_node.transact([](transaction& tx) { tx.start(hears, "h", "x"); });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 1; }));
    run(shop_node, R"(INSERT INTO workflow_signals (signal, payload) VALUES
        ('Decided', '{"order_id":"x"}'), ('Decided', '{"orderId":7}'), ('Decided', 'no JSON'))");
    ASSERT_TRUE(test::eventually([&] {
        return logged().contains(
            "no workflow can get signal 1, as it is: it is waited for by orderId:text, and lacks "
            "that or has it of another type (such signals that came with it: 3)");
    })) << logged();
    EXPECT_EQ(shop_node.find(hears, "h")->status, flow_status::running);
    shop_node.signal(decided{"x", "ann", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(hears, "h", 30s).result, R"("ann")");
}

TEST_F(flows_of_an_engine, get_a_signal_together_with_twenty_thousand_others) {
    shop_node.add(hears);
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(hears, "one", "x");
        tx.start(hears, "other", "y");
    });
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_waits") == 2; }));
    // Of workflows that are not here.
    for (int slice = 1; slice <= 2; ++slice)
        run(shop_node,
            fmt::format(
                "WITH RECURSIVE n(i) AS (SELECT {0}0001 UNION ALL SELECT i + 1 FROM n WHERE i < "
                "{0}0000 + 10000) INSERT INTO workflow_waits (instance, command, signal, shape,"
                " key, terms) SELECT 1000000 + n.i, 1, w.signal, w.shape, w.key, w.terms"
                " FROM n, workflow_waits w WHERE w.instance < 1000000 AND w.terms LIKE '%\"x\"%'",
                slice));
    shop_node.signal(decided{"x", "ann", true, 1});
    shop_node.signal(decided{"y", "bob", true, 1});
    EXPECT_EQ(shop_node.wait_for_end(hears, "one", 60s).result, R"("ann")") << logged();
    EXPECT_EQ(shop_node.wait_for_end(hears, "other", 60s).result, R"("bob")");
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_mailbox WHERE kind = 'signalled'"),
              20'000);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_waits WHERE taken = 0"), 0);
}

TEST_F(flows_of_an_engine, are_not_held_up_by_many_signals_for_nobody_and_find_theirs_among_them) {
    run(shop_node,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO workflow_signals (signal, payload) SELECT 'Decided', '{\"orderId\":\"o' || i "
        "||"
        " '\",\"by\":\"ann\",\"approved\":true,\"level\":1}' FROM n");
    shop_node.add(hears);
    shop_node.add(add_all);
    start();
    ASSERT_TRUE(test::eventually(
        [&] { return number(shop_node, "SELECT count(*) FROM workflow_unclaimed") == 20'000; }));
    shop_node.transact([](transaction& tx) {
        tx.start(hears, "last", "o20000");
        tx.start(hears, "first", "o1");
        tx.start(hears, "none", "o20001");
        tx.start(add_all, "a", std::vector<std::string>{"any"});
    });
    EXPECT_EQ(shop_node.wait_for_end(add_all, "a", 60s).result, "10") << logged();
    EXPECT_EQ(shop_node.wait_for_end(hears, "first", 60s).result, R"("ann")");
    EXPECT_EQ(shop_node.wait_for_end(hears, "last", 60s).result, R"("ann")");
    EXPECT_EQ(shop_node.find(hears, "none")->status, flow_status::running);
    EXPECT_EQ(number(shop_node, "SELECT count(DISTINCT seq) FROM workflow_unclaimed"), 19'998);
}

TEST_F(flows_of_an_engine, are_state_machines_over_signals_and_time) {
    shop_node.add(subscribe);
    start();
    shop_node.transact([](transaction& tx) {
        tx.start(subscribe, "year", "c1");
        tx.start(subscribe, "short", "c2");
        tx.signal(card_changed{"c2", "4000-1"});
    });
    EXPECT_EQ(shop_node.wait_for_end(subscribe, "year", 60s).result, "5") << logged();
    ASSERT_TRUE(becomes(shop_node, subscribe, "short",
                        [](const workflow_view& seen) { return seen.state.contains("4000-1"); }));
    shop_node.signal(left{"c2"});
    EXPECT_EQ(shop_node.wait_for_end(subscribe, "short", 60s).status, flow_status::completed);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_timers"), 0);
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM workflow_waits"), 0);
}

}  // namespace
}  // namespace posthorn
