#include <stdexcept>

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

task<> sleep_then_count(timer& time, std::chrono::nanoseconds delay, int& ended) {
    co_await time.sleep_for(delay);
    ++ended;
}

task<> sleep_then_throw(timer& time, std::chrono::nanoseconds delay) {
    co_await time.sleep_for(delay);
    throw std::runtime_error("broke");
}

TEST(run_all, runs_them_beside_each_other_and_waits_for_the_last) {
    virtual_loop loop;
    int ended = 0;
    std::vector<task<>> bodies;
    for (int i = 1; i <= 3; ++i) bodies.push_back(sleep_then_count(loop.time(), i * 1s, ended));
    loop.run(run_all(std::move(bodies)));
    EXPECT_EQ(ended, 3);
    EXPECT_EQ(loop.time().steady(), steady_time{3s});
}

TEST(run_all, of_nothing_returns_at_once) {
    virtual_loop loop;
    loop.run(run_all({}));
    EXPECT_EQ(loop.time().steady(), steady_time{});
}

TEST(run_all, throws_only_after_all_have_ended) {
    virtual_loop loop;
    int ended = 0;
    std::vector<task<>> bodies;
    bodies.push_back(sleep_then_throw(loop.time(), 1s));
    bodies.push_back(sleep_then_count(loop.time(), 2s, ended));
    EXPECT_THROW(loop.run(run_all(std::move(bodies))), std::runtime_error);
    EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace posthorn
