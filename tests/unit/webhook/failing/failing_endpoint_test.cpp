#include "webhook/failing/failing_endpoint.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time now{std::chrono::milliseconds{1'800'000'000'000}};

failing_endpoint failing_for(std::chrono::milliseconds span, std::int64_t failures = 100) {
    return {.subscription = {}, .since = now - span, .last = now, .failures = failures};
}

TEST(failing_percent, is_the_share_of_the_time_that_it_did_nothing_but_fail) {
    EXPECT_EQ(failing_percent(failing_for(0ms), 0, {}), 0);
    EXPECT_EQ(failing_percent(failing_for(60h), 0, {}), 50);
    EXPECT_EQ(failing_percent(failing_for(120h), 0, {}), 100);
    EXPECT_EQ(failing_percent(failing_for(119h + 59min), 0, {}), 99);
}

TEST(failing_percent, or_of_the_backlog_whichever_is_more) {
    EXPECT_EQ(failing_percent(failing_for(1h), 7'000, {}), 70);
    EXPECT_EQ(failing_percent(failing_for(96h), 7'000, {}), 80);
    EXPECT_EQ(failing_percent(failing_for(1h), 10'000, {}), 100);
}

TEST(failing_percent, disables_nothing_after_a_few_failures) {
    EXPECT_EQ(failing_percent(failing_for(1000h, 9), 0, {}), 0);
    EXPECT_EQ(failing_percent(failing_for(1000h, 9), 20'000, {}), 99);
    EXPECT_GE(failing_percent(failing_for(1000h, 10), 0, {}), 100);
}

TEST(failing_percent, holds_with_what_no_clock_says) {
    failing_endpoint odd{.subscription = {}, .since = now, .last = now - 100h, .failures = 50};
    EXPECT_EQ(failing_percent(odd, 0, {}), 0);
    odd = {.subscription = {}, .since = wall_time::min(), .last = wall_time{}, .failures = 50};
    EXPECT_GE(failing_percent(odd, 0, {}), 100);
}

TEST(next_alert, is_one_level_after_the_other_however_far_it_is) {
    EXPECT_EQ(next_alert(0, 49), 0);
    EXPECT_EQ(next_alert(0, 50), 50);
    EXPECT_EQ(next_alert(0, 1000), 50);
    EXPECT_EQ(next_alert(50, 1000), 70);
    EXPECT_EQ(next_alert(70, 1000), 90);
    EXPECT_EQ(next_alert(90, 99), 0);
    EXPECT_EQ(next_alert(90, 100), 100);
    EXPECT_EQ(next_alert(100, 1000), 0);
}

}  // namespace
}  // namespace posthorn
