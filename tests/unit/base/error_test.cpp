#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include <posthorn/error.hpp>

#include "base/result.hpp"

namespace posthorn {
namespace {

TEST(error, carries_its_code_and_a_sentence) {
    const error e(error_code::timed_out, "no answer; try again");
    EXPECT_EQ(e.code(), error_code::timed_out);
    EXPECT_EQ(e.name(), "timed_out");
    EXPECT_STREQ(e.what(), "no answer; try again");
    EXPECT_TRUE(e.is_transient());
    EXPECT_FALSE(e.is_in_doubt());
}

}  // namespace
}  // namespace posthorn
