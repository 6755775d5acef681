#include "base/text/comma_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(comma_list, gives_the_parts_without_the_spaces_around_them) {
    EXPECT_THAT(split_at_commas("10.0.0.0/8, ::1"), ElementsAre("10.0.0.0/8", "::1"));
    EXPECT_THAT(split_at_commas("  a b ,c"), ElementsAre("a b", "c"));
    EXPECT_THAT(split_at_commas("alone"), ElementsAre("alone"));
}

TEST(comma_list, leaves_out_what_is_empty) {
    EXPECT_THAT(split_at_commas(""), IsEmpty());
    EXPECT_THAT(split_at_commas(" , ,,"), IsEmpty());
    EXPECT_THAT(split_at_commas(",a,"), ElementsAre("a"));
}

}  // namespace
}  // namespace posthorn
