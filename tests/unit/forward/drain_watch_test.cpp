#include "forward/drain_watch.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// `change` more each second.
drain_watch watched(std::int64_t waiting, std::int64_t change, int seconds) {
    drain_watch watch;
    for (int i = 0; i <= seconds; ++i)
        watch.note(steady_time{} + std::chrono::seconds(i), waiting + change * i);
    return watch;
}

TEST(drain_watch, says_nothing_before_it_has_seen_enough) {
    EXPECT_EQ(drain_watch{}.drained(), std::nullopt);
    EXPECT_EQ(watched(100, -1, 9).drained(), std::nullopt);
    EXPECT_EQ(watched(100, -1, 9).left(), std::nullopt);
    EXPECT_FALSE(watched(100, 1, 9).grows());
}

TEST(drain_watch, tells_the_time_left_by_what_was_drained_of_late) {
    EXPECT_EQ(watched(1000, -10, 20).drained(), 10.0);
    EXPECT_EQ(watched(1000, -10, 20).left(), 80s);
    EXPECT_EQ(watched(100, -10, 10).left(), 0s);
}

TEST(drain_watch, has_no_time_to_tell_while_it_does_not_become_less) {
    EXPECT_EQ(watched(1000, 0, 20).left(), std::nullopt);
    EXPECT_FALSE(watched(1000, 0, 20).grows());
    EXPECT_EQ(watched(1000, 3, 20).left(), std::nullopt);
    EXPECT_EQ(watched(1000, 3, 20).drained(), -3.0);
    EXPECT_TRUE(watched(1000, 3, 20).grows());
}

TEST(drain_watch, forgets_what_is_more_than_a_minute_old) {
    auto watch = watched(0, 100, 100);  // An outage,
    for (int i = 1; i <= 60; ++i)       // and its end.
        watch.note(steady_time{} + std::chrono::seconds(100 + i), 10'000 - 20 * i);
    EXPECT_EQ(watch.drained(), 20.0);
    EXPECT_EQ(watch.left(), std::chrono::seconds((10'000 - 1200) / 20));
}

}  // namespace
}  // namespace posthorn
