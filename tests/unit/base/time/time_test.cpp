#include <vector>

#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

task<> note(timer& time, std::chrono::nanoseconds delay, std::vector<int>& order, int name) {
    if (co_await time.sleep_for(delay)) order.push_back(name);
}

TEST(virtual_time, wakes_sleepers_in_the_order_of_their_deadlines) {
    virtual_loop loop;
    task_group group(loop.executor());
    std::vector<int> order;
    group.spawn(note(loop.time(), 3h, order, 3));
    group.spawn(note(loop.time(), 1ms, order, 1));
    group.spawn(note(loop.time(), 2s, order, 2));
    loop.run(group.join());
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_EQ(loop.time().steady(), steady_time{} + 3h);
}

TEST(virtual_time, wakes_nobody_before_the_deadline) {
    virtual_loop loop;
    task_group group(loop.executor());
    std::vector<int> order;
    group.spawn(note(loop.time(), 10ms, order, 1));
    loop.run_for(9ms);
    EXPECT_TRUE(order.empty());
    loop.run_for(1ms);
    EXPECT_EQ(order.size(), 1U);
    loop.run(group.join());
}

TEST(virtual_time, a_sleep_of_no_length_needs_no_advance) {
    virtual_loop loop;
    const auto before = loop.time().steady();
    EXPECT_TRUE(loop.run(loop.time().sleep_for(0s)));
    EXPECT_TRUE(loop.run(loop.time().sleep_for(-1s)));
    EXPECT_EQ(loop.time().steady(), before);
}

TEST(virtual_time, a_wall_jump_moves_the_wall_clock_alone) {
    virtual_time time;
    const auto wall = time.wall();
    const auto steady = time.steady();
    time.jump_wall(-48h);
    EXPECT_EQ(time.wall(), wall - 48h);
    EXPECT_EQ(time.steady(), steady);
    time.advance(1500us);
    EXPECT_EQ(time.wall(), wall - 48h + 1ms);
}

TEST(virtual_loop, gives_up_at_its_limit) {
    virtual_loop loop;
    task_group group(loop.executor());
    std::vector<int> order;
    group.spawn(note(loop.time(), 2h, order, 1));
    EXPECT_FALSE(loop.run_until([&] { return !order.empty(); }, 1h));
    group.cancel();
    loop.run(group.join());
}

TEST(real_clock, goes_forward_and_knows_the_century) {
    const real_clock clock;
    const auto first = clock.steady();
    EXPECT_LE(first, clock.steady());
    EXPECT_GT(clock.wall(), wall_time{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}});
}

TEST(real_timer, sleeps_at_least_as_long_as_asked) {
    io_threads threads("test");
    real_timer timer;
    const real_clock clock;
    const auto before = clock.steady();
    EXPECT_TRUE(start(threads.executor(), timer.sleep_for(2ms)).get());
    EXPECT_GE(clock.steady() - before, 2ms);
}

task<> sleep_into(timer& time, result<>& outcome) { outcome = co_await time.sleep_for(1h); }

task<> cancel_while_asleep(timer& time, result<>& outcome) {
    task_group group(co_await boost::asio::this_coro::executor);
    group.spawn(sleep_into(time, outcome));
    co_await time.sleep_for(1ms);
    group.cancel();
    co_await group.join();
}

TEST(real_timer, a_cancelled_sleeper_wakes_with_an_error_value) {
    io_threads threads("test");
    real_timer time;
    result<> outcome;
    start(threads.executor(), cancel_while_asleep(time, outcome)).get();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::cancelled);
}

TEST(virtual_time, a_cancelled_sleeper_wakes_with_an_error_value) {
    virtual_loop loop;
    result<> outcome;
    loop.run(cancel_while_asleep(loop.time(), outcome));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::cancelled);
    EXPECT_EQ(loop.time().steady(), steady_time{} + 1ms);
}

}  // namespace
}  // namespace posthorn
