#include "base/text/counted.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(counted, says_one_as_one_and_others_as_many) {
    EXPECT_EQ(counted(0, "message"), "0 messages");
    EXPECT_EQ(counted(1U, "message"), "1 message");
    EXPECT_EQ(counted(2, "message"), "2 messages");
    EXPECT_EQ(counted(1, "message waits", "messages wait"), "1 message waits");
    EXPECT_EQ(counted(-1, "message waits", "messages wait"), "-1 messages wait");
}

}  // namespace
}  // namespace posthorn
