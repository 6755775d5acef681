#include "base/async/bell.hpp"

#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

task<> count_rings(bell& door, int& rings) {
    while (co_await door.wait()) ++rings;
}

TEST(bell, a_ring_before_the_wait_is_heard) {
    virtual_loop loop;
    bell door;
    door.ring();
    EXPECT_TRUE(loop.run(door.wait()));
}

TEST(bell, many_rings_before_the_wait_count_once) {
    virtual_loop loop;
    bell door;
    door.ring();
    door.ring();
    EXPECT_TRUE(loop.run(door.wait_for(loop.time(), 1s)));
    EXPECT_FALSE(loop.run(door.wait_for(loop.time(), 1s)));
}

TEST(bell, wakes_a_waiter_each_time) {
    virtual_loop loop;
    bell door;
    task_group group(loop.executor());
    int rings = 0;
    group.spawn(count_rings(door, rings));
    for (int i = 1; i <= 3; ++i) {
        loop.settle();
        door.ring();
        loop.settle();
        EXPECT_EQ(rings, i);
    }
    group.cancel();
    loop.run(group.join());
}

TEST(bell, a_limited_wait_ends_when_rung_or_when_the_time_is_over) {
    virtual_loop loop;
    bell door;
    EXPECT_FALSE(loop.run(door.wait_for(loop.time(), 5s)));
    EXPECT_EQ(loop.time().steady(), steady_time{} + 5s);
    auto waiting = start(loop.executor(), door.wait_for(loop.time(), 5s));
    loop.settle();
    door.ring();
    loop.settle();
    EXPECT_TRUE(waiting.get());
    EXPECT_EQ(loop.time().steady(), steady_time{} + 5s);
}

TEST(bell, a_cancelled_wait_leaves_the_ring_for_the_next) {
    virtual_loop loop;
    bell door;
    task_group group(loop.executor());
    int rings = 0;
    group.spawn(count_rings(door, rings));
    loop.settle();
    group.cancel();
    door.ring();
    loop.run(group.join());
    EXPECT_EQ(rings, 0);
    EXPECT_TRUE(loop.run(door.wait_for(loop.time(), 1s)));
}

task<> answer(bell& question, bell& reply, int times) {
    for (int i = 0; i < times; ++i) {
        co_await question.wait();
        reply.ring();
    }
}

TEST(bell, loses_no_ring_between_threads) {
    io_threads threads("test", 2);
    bell ping, pong;
    auto left = start(threads.executor(), answer(ping, pong, 10'000));
    auto right = start(threads.executor(), answer(pong, ping, 10'000));
    ping.ring();
    left.get();
    right.get();
}

}  // namespace
}  // namespace posthorn
