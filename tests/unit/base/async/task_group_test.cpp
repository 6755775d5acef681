#include "base/async/task_group.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "base/async/with_timeout.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

task<> sleep_then_count(timer& time, std::chrono::nanoseconds delay, int& finished) {
    co_await time.sleep_for(delay);
    ++finished;
}

task<> throw_after(timer& time, std::chrono::nanoseconds delay, const char* text) {
    co_await time.sleep_for(delay);
    throw std::runtime_error(text);
}

task<> loop_until_cancelled(timer& time, int& rounds) {
    while (co_await time.sleep_for(1s)) ++rounds;
}

TEST(task_group, join_waits_for_every_member) {
    virtual_loop loop;
    task_group group(loop.executor());
    int finished = 0;
    for (int i = 1; i <= 5; ++i) group.spawn(sleep_then_count(loop.time(), i * 1s, finished));
    loop.run(group.join());
    EXPECT_EQ(finished, 5);
    EXPECT_EQ(group.size(), 0U);
}

TEST(task_group, join_of_an_empty_group_returns_at_once) {
    virtual_loop loop;
    task_group group(loop.executor());
    loop.run(group.join());
    EXPECT_EQ(loop.time().steady(), steady_time{});
}

TEST(task_group, cancel_ends_a_member_at_its_next_wait) {
    virtual_loop loop;
    task_group group(loop.executor());
    int rounds = 0;
    group.spawn(loop_until_cancelled(loop.time(), rounds));
    loop.run_for(3500ms);
    group.cancel();
    loop.run(group.join());
    EXPECT_EQ(rounds, 3);
}

TEST(task_group, a_member_spawned_after_cancel_is_cancelled_too) {
    virtual_loop loop;
    task_group group(loop.executor());
    group.cancel();
    int rounds = 0;
    group.spawn(loop_until_cancelled(loop.time(), rounds));
    loop.run(group.join());
    EXPECT_EQ(rounds, 0);
}

TEST(task_group, cancelling_twice_is_safe) {
    virtual_loop loop;
    task_group group(loop.executor());
    int rounds = 0;
    group.spawn(loop_until_cancelled(loop.time(), rounds));
    loop.settle();
    group.cancel();
    group.cancel();
    loop.run(group.join());
    EXPECT_EQ(group.size(), 0U);
}

TEST(task_group, join_throws_the_first_exception_after_all_members_ended) {
    virtual_loop loop;
    task_group group(loop.executor());
    int finished = 0;
    group.spawn(throw_after(loop.time(), 1s, "first"));
    group.spawn(throw_after(loop.time(), 2s, "second"));
    group.spawn(sleep_then_count(loop.time(), 3s, finished));
    try {
        loop.run(group.join());
        FAIL() << "the exception was swallowed";
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "first");
    }
    EXPECT_EQ(finished, 1);
}

TEST(task_group, a_cancelled_join_still_waits_for_its_members) {
    virtual_loop loop;
    task_group inner(loop.executor());
    int finished = 0;
    inner.spawn(sleep_then_count(loop.time(), 5s, finished));
    task_group outer(loop.executor());
    outer.spawn(inner.join());
    loop.settle();
    outer.cancel();
    loop.run(outer.join());
    EXPECT_EQ(finished, 1);
}

TEST(task_group_death, destroying_it_with_members_running_aborts) {
    EXPECT_DEATH(
        {
            virtual_loop loop;
            int finished = 0;
            task_group group(loop.executor());
            group.spawn(sleep_then_count(loop.time(), 1s, finished));
        },
        "members_.empty");
}

task<result<int>> answer_after(timer& time, std::chrono::nanoseconds delay, int answer) {
    if (auto slept = co_await time.sleep_for(delay); !slept)
        co_return std::unexpected(slept.error());
    co_return answer;
}

task<result<int>> fail_loudly() {
    throw std::runtime_error("loud");
    co_return 0;
}

TEST(with_timeout, gives_the_value_of_a_body_in_time) {
    virtual_loop loop;
    const auto value = loop.run(with_timeout(loop.time(), 2s, answer_after(loop.time(), 1s, 42)));
    EXPECT_EQ(value.value(), 42);
    EXPECT_EQ(loop.time().steady(), steady_time{} + 1s);
}

TEST(with_timeout, cancels_a_late_body_and_says_timed_out) {
    virtual_loop loop;
    const auto value = loop.run(with_timeout(loop.time(), 1s, answer_after(loop.time(), 1h, 42)));
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code(), error_code::timed_out);
    EXPECT_EQ(loop.time().steady(), steady_time{} + 1s);
}

TEST(with_timeout, lets_an_exception_out_at_once) {
    virtual_loop loop;
    EXPECT_THROW(loop.run(with_timeout(loop.time(), 1h, fail_loudly())), std::runtime_error);
    EXPECT_EQ(loop.time().steady(), steady_time{});
}

task<> time_into(timer& time, result<int>& outcome) {
    outcome = co_await with_timeout(time, 1h, answer_after(time, 2h, 1));
}

TEST(with_timeout, passes_cancellation_on_as_cancelled) {
    virtual_loop loop;
    task_group group(loop.executor());
    result<int> outcome;
    group.spawn(time_into(loop.time(), outcome));
    loop.settle();
    group.cancel();
    loop.run(group.join());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::cancelled);
    EXPECT_EQ(loop.time().steady(), steady_time{});
}

}  // namespace
}  // namespace posthorn
