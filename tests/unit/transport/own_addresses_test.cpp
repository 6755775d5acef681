#include "transport/own_addresses.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(own_addresses_watch, looks_again_each_minute_and_not_more_often) {
    own_addresses_watch watch;
    const steady_time begin{1h};
    const auto first = watch.look(begin);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, own_addresses().value());
    EXPECT_FALSE(watch.look(begin + 59s));
    EXPECT_TRUE(watch.look(begin + 60s));
    EXPECT_FALSE(watch.look(begin + 61s));
}

}  // namespace
}  // namespace posthorn
