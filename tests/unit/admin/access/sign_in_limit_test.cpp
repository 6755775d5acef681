#include "admin/access/sign_in_limit.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr steady_time begin{1h};

void fail_often(sign_in_limit& limit, std::string_view address, std::size_t times,
                steady_time now) {
    for (std::size_t i = 0; i < times; ++i) {
        ASSERT_FALSE(limit.wait(address, now)) << i;
        limit.failed(address, now);
    }
}

TEST(sign_in_limit, holds_an_address_back_after_ten_failures_within_a_minute) {
    sign_in_limit limit;
    fail_often(limit, "10.0.0.1", 10, begin);
    EXPECT_EQ(limit.wait("10.0.0.1", begin), 60s);
    EXPECT_EQ(limit.wait("10.0.0.1", begin + 59'001ms), 1s);
    EXPECT_FALSE(limit.wait("10.0.0.2", begin));
    EXPECT_FALSE(limit.wait("10.0.0.1", begin + 60s));
}

TEST(sign_in_limit, lets_one_more_try_with_each_failure_that_is_a_minute_old) {
    sign_in_limit limit;
    for (int i = 0; i < 10; ++i) fail_often(limit, "10.0.0.1", 1, begin + i * 1s);
    EXPECT_EQ(limit.wait("10.0.0.1", begin + 10s), 50s);
    fail_often(limit, "10.0.0.1", 1, begin + 60s);
    EXPECT_EQ(limit.wait("10.0.0.1", begin + 60s), 1s);
}

TEST(sign_in_limit, holds_everyone_back_after_a_hundred_and_keeps_no_more) {
    sign_in_limit limit;
    for (int i = 0; i < 100; ++i) fail_often(limit, std::to_string(i), 1, begin + i * 10ms);
    EXPECT_EQ(limit.wait("new", begin + 1s), 59s);
    EXPECT_FALSE(limit.wait("new", begin + 60s));
    fail_often(limit, "new", 1, begin + 60s);
    EXPECT_EQ(limit.wait("newer", begin + 60s), 1s);
}

}  // namespace
}  // namespace posthorn
