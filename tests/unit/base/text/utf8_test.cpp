#include "base/text/utf8.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(utf8, knows_what_is_utf8) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("plain, é, €, 😀"));
    EXPECT_FALSE(is_utf8("\xff"));
    EXPECT_FALSE(is_utf8("cut \xe2\x82"));
    EXPECT_FALSE(is_utf8("\xed\xa0\x80"));  // A lone surrogate.
    EXPECT_FALSE(is_utf8("\xc0\xaf"));      // Longer than needed.
}

TEST(utf8, clean_text_stays_as_it_is_up_to_the_limit) {
    EXPECT_EQ(clean_utf8("", 3), "");
    EXPECT_EQ(clean_utf8("a€😀", 3), "a€😀");
}

TEST(utf8, longer_text_is_cut_at_a_character_and_marked) {
    EXPECT_EQ(clean_utf8("€€€€", 3), "€€…");
    EXPECT_EQ(clean_utf8("ab", 1), "…");
}

TEST(utf8, bytes_that_are_not_utf8_are_replaced_one_by_one) {
    EXPECT_EQ(clean_utf8("a\xff\xfe"
                         "b",
                         10),
              "a\uFFFD\uFFFDb");
    EXPECT_EQ(clean_utf8("cut \xe2\x82", 10), "cut \uFFFD\uFFFD");
}

}  // namespace
}  // namespace posthorn
