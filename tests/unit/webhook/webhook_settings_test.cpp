#include "webhook/webhook_settings.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(webhook_pace, of_two_hundred_deliveries_of_one_endpoint_is_wide) {
    EXPECT_EQ(webhook_pace{}.fan_out(), 192);
    EXPECT_FALSE(webhook_pace{}.is_wide());
    EXPECT_TRUE(webhook_pace{.batch = 25}.is_wide());
    EXPECT_FALSE((webhook_pace{.batch = 25, .endpoint_requests = 3}.is_wide()));
    EXPECT_TRUE((webhook_pace{.batch = 1000, .batches = 2, .endpoint_requests = 32}.is_wide()));
}

}  // namespace
}  // namespace posthorn
