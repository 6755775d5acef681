#include "engine/steps/verify.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(verify, chooses_one_of_so_many_steps_and_of_long_histories_fewer) {
    EXPECT_FALSE(is_verified(99, 3, 100));
    EXPECT_TRUE(is_verified(100, 3, 100));
    EXPECT_TRUE(is_verified(1, 1, 1));
    EXPECT_FALSE(is_verified(999, 1000, 100)) << "it would repeat more steps than are taken";
    EXPECT_TRUE(is_verified(1000, 1000, 100));
    EXPECT_FALSE(is_verified(1'000'000, 1, 0));
}

}  // namespace
}  // namespace posthorn
