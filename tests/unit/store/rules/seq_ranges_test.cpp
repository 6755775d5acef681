#include "store/rules/seq_ranges.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(seq_ranges, names_neighbours_as_one_range) {
    EXPECT_EQ(to_ranges({3, 4, 5, 9}), "3-5,9");
    EXPECT_EQ(to_ranges({7}), "7");
    EXPECT_EQ(to_ranges({}), "");
}

TEST(seq_ranges, takes_them_in_any_order_and_twice) {
    EXPECT_EQ(to_ranges({9, 3, 5, 4, 4}), "3-5,9");
}

}  // namespace
}  // namespace posthorn
