#include <gtest/gtest.h>

#include "outbox/dispatch/round_timer.hpp"
#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

/// A node that takes up ten messages when it is asked, and none otherwise.
class rounds : public testing::Test {
protected:
    rounds() { node.options.round_rows = 10; }

    void send(const std::string& destination, int count) {
        for (int i = 0; i < count; ++i) node.store.send(node.to(destination));
    }
    std::size_t round() {
        std::size_t rows = 1'000;
        loop.run([](rig& in, std::size_t& into) -> task<> {
            into = value_or_throw(co_await in.get().round());
        }(node, rows));
        return rows;
    }

    virtual_loop loop;
    rig node{loop};
};

TEST_F(rounds, take_up_nothing_unasked) {
    auto& stock = node.wire("stock");
    send("stock", 3);
    node.start();
    send("stock", 3);
    loop.run_for(1h);
    EXPECT_TRUE(stock.sends.empty());
}

TEST_F(rounds, take_up_a_batch_and_end_with_it) {
    auto& stock = node.wire("stock");
    stock.delay = 200ms;
    send("stock", 23);
    node.start();
    EXPECT_EQ(round(), 10U);
    EXPECT_EQ(node.count(outbox_status::sent), 10U);
    loop.run_for(1min);
    EXPECT_EQ(stock.sends.size(), 10U);
    EXPECT_EQ(round(), 10U);
    EXPECT_EQ(round(), 3U);
    EXPECT_EQ(round(), 0U);
    EXPECT_EQ(node.count(outbox_status::sent), 23U);
    EXPECT_EQ(stock.sends.size(), 23U);
}

TEST_F(rounds, share_a_batch_among_destinations) {
    for (const auto* const each : {"a", "b", "c"}) node.wire(each);
    send("a", 100);
    send("b", 2);
    send("c", 100);
    node.start();
    EXPECT_EQ(round(), 10U);
    EXPECT_EQ(node.wire("b").sends.size(), 2U);
    EXPECT_GE(node.wire("a").sends.size(), 3U);
    EXPECT_GE(node.wire("c").sends.size(), 3U);
}

TEST_F(rounds, leave_a_retry_to_a_later_one) {
    auto& stock = node.wire("stock");
    stock.always(outcome::transient);
    send("stock", 1);
    node.start();
    EXPECT_EQ(round(), 1U);
    EXPECT_EQ(stock.sends.size(), 1U);
    EXPECT_EQ(round(), 0U);  // Its time has not come.
    loop.run_for(1h);
    EXPECT_EQ(stock.sends.size(), 1U);
    stock.always(outcome::delivered);
    EXPECT_EQ(round(), 1U);
    EXPECT_EQ(node.count(outbox_status::sent), 1U);
}

TEST_F(rounds, end_though_a_destination_is_silent) {
    node.wire("stock").always(outcome::unanswered);
    send("stock", 30);
    node.start();
    EXPECT_GT(round(), 0U);
    EXPECT_EQ(node.count(outbox_status::sent), 0U);
}

TEST_F(rounds, that_are_asked_for_together_follow_each_other) {
    auto& stock = node.wire("stock");
    send("stock", 15);
    node.start();
    std::vector<std::size_t> took;
    task_group both(loop.executor());
    for (int i = 0; i < 2; ++i)
        both.spawn([](rig& in, std::vector<std::size_t>& into) -> task<> {
            into.push_back(value_or_throw(co_await in.get().round()));
        }(node, took));
    loop.run(both.join());
    EXPECT_EQ(took, (std::vector<std::size_t>{10, 5}));
    EXPECT_EQ(stock.sends.size(), 15U);
}

TEST_F(rounds, come_when_the_schedule_says) {
    auto& stock = node.wire("stock");
    send("stock", 25);
    node.start();
    logger log = logger::null();
    inline_executor inline_;
    const environment env{loop.time(),     loop.time(), node.random, log,
                          loop.executor(), inline_,     inline_};
    round_timer timer(env, node.get(), value_or_throw(cron::parse("*/30 * * * * *")));
    task_group running(loop.executor());
    running.spawn(timer.run());
    loop.run_for(31s);
    EXPECT_EQ(stock.sends.size(), 10U);
    loop.run_for(30s);
    EXPECT_EQ(stock.sends.size(), 20U);
    loop.run_for(30s);
    EXPECT_EQ(stock.sends.size(), 25U);
    running.cancel();
    loop.run(running.join());
    for (const auto& at : stock.sent_at)
        EXPECT_EQ(at.time_since_epoch() % 30s, 0s) << to_iso8601(at);
}

}  // namespace
}  // namespace posthorn
