#include "base/async/channel.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

task<> produce(channel<int>& to, int count, int& sent) {
    for (int i = 0; i < count; ++i) {
        if (!co_await to.send(i)) co_return;
        ++sent;
    }
}

task<> consume(channel<int>& from, std::vector<int>& got, error_code& end) {
    for (;;) {
        auto next = co_await from.receive();
        if (!next) {
            end = next.error().code();
            co_return;
        }
        got.push_back(*next);
    }
}

TEST(channel, a_producer_waits_while_it_is_full) {
    virtual_loop loop;
    channel<int> numbers(3);
    task_group group(loop.executor());
    int sent = 0;
    group.spawn(produce(numbers, 10, sent));
    loop.settle();
    EXPECT_EQ(sent, 3);
    EXPECT_EQ(loop.run(numbers.receive()).value(), 0);
    loop.settle();
    EXPECT_EQ(sent, 4);
    group.cancel();
    loop.run(group.join());
}

TEST(channel, try_send_refuses_when_full) {
    virtual_loop loop;
    channel<int> numbers(2);
    EXPECT_TRUE(numbers.try_send(1));
    EXPECT_TRUE(numbers.try_send(2));
    EXPECT_FALSE(numbers.try_send(3));
}

TEST(channel, gives_what_is_left_after_close_and_then_says_closed) {
    virtual_loop loop;
    channel<int> numbers(4);
    numbers.try_send(1);
    numbers.try_send(2);
    numbers.close();
    EXPECT_FALSE(numbers.try_send(3));
    std::vector<int> got;
    error_code end{};
    loop.run(consume(numbers, got, end));
    EXPECT_EQ(got, (std::vector{1, 2}));
    EXPECT_EQ(end, error_code::closed);
}

TEST(channel, close_wakes_a_waiting_consumer) {
    virtual_loop loop;
    channel<int> numbers(1);
    task_group group(loop.executor());
    std::vector<int> got;
    error_code end{};
    group.spawn(consume(numbers, got, end));
    loop.settle();
    numbers.close();
    loop.run(group.join());
    EXPECT_EQ(end, error_code::closed);
}

TEST(channel, a_cancelled_consumer_takes_nothing) {
    virtual_loop loop;
    channel<int> numbers(1);
    task_group group(loop.executor());
    std::vector<int> got;
    error_code end{};
    group.spawn(consume(numbers, got, end));
    loop.settle();
    group.cancel();
    loop.run(group.join());
    EXPECT_EQ(end, error_code::cancelled);
    EXPECT_TRUE(numbers.try_send(7));
    EXPECT_EQ(loop.run(numbers.receive()).value(), 7);
}

TEST(channel, carries_values_that_can_only_be_moved) {
    virtual_loop loop;
    channel<std::unique_ptr<int>> boxes(1);
    EXPECT_TRUE(boxes.try_send(std::make_unique<int>(5)));
    EXPECT_EQ(*loop.run(boxes.receive()).value(), 5);
}

TEST(channel, a_cancelled_producer_hands_nothing_over) {
    virtual_loop loop;
    channel<int> numbers(1);
    task_group group(loop.executor());
    int sent = 0;
    group.spawn(produce(numbers, 2, sent));
    loop.settle();
    group.cancel();
    loop.run(group.join());
    EXPECT_EQ(sent, 1);
    EXPECT_EQ(loop.run(numbers.receive()).value(), 0);
    EXPECT_TRUE(numbers.try_send(9));
    EXPECT_EQ(loop.run(numbers.receive()).value(), 9);
}

TEST(channel, loses_nothing_between_threads) {
    io_threads threads("test", 2);
    channel<int> numbers(8);
    std::vector<int> got;
    error_code end{};
    auto consumer = start(threads.executor(), consume(numbers, got, end));
    int sent = 0;
    start(threads.executor(), produce(numbers, 10'000, sent)).get();
    numbers.close();
    consumer.get();
    EXPECT_EQ(sent, 10'000);
    ASSERT_EQ(got.size(), 10'000U);
    EXPECT_TRUE(std::ranges::is_sorted(got));
}

}  // namespace
}  // namespace posthorn
