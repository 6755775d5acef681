#include "transport/http/guarded/late_watch.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class a_late_watch : public ::testing::Test {
protected:
    ~a_late_watch() override {
        subject.stop();
        loop.run(tasks.join());
    }
    [[nodiscard]] steady_time in(std::chrono::seconds span) { return loop.time().steady() + span; }

    virtual_loop loop;
    task_group tasks{loop.executor()};
    late_watch subject{tasks, loop.time(), loop.time()};
    int ended = 0;
};

TEST_F(a_late_watch, ends_what_is_late_and_says_so) {
    const late_watch::watched slow(subject, in(30s), [this] { ++ended; });
    loop.run_for(29s);
    EXPECT_EQ(ended, 0);
    EXPECT_FALSE(slow.was_late());
    loop.run_for(2s);
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(slow.was_late());
}

TEST_F(a_late_watch, leaves_alone_what_was_done_in_time) {
    {
        const late_watch::watched quick(subject, in(30s), [this] { ++ended; });
        loop.run_for(10s);
    }
    loop.run_for(60s);
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(tasks.size(), 0U);  // Nothing is left that would wake.
}

TEST_F(a_late_watch, wakes_for_one_that_came_later_and_ends_sooner) {
    const late_watch::watched long_one(subject, in(30s), [this] { ended += 10; });
    loop.run_for(1s);
    const late_watch::watched short_one(subject, in(2s), [this] { ++ended; });
    loop.run_for(3s);
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(short_one.was_late());
    loop.run_for(30s);
    EXPECT_EQ(ended, 11);
}

TEST_F(a_late_watch, watches_again_after_it_had_nothing_to_do) {
    {
        const late_watch::watched first(subject, in(1s), [this] { ++ended; });
    }
    loop.run_for(5s);
    const late_watch::watched second(subject, in(1s), [this] { ++ended; });
    loop.run_for(5s);
    EXPECT_EQ(ended, 1);
}

TEST_F(a_late_watch, ends_one_whose_end_is_the_end_of_another) {
    std::optional<late_watch::watched> other;
    const late_watch::watched first(subject, in(1s), [&] { other.reset(); });
    other.emplace(subject, in(1s), [this] { ++ended; });
    loop.run_for(5s);
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace posthorn
