#include "base/text/joined.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

constexpr auto columns = joined("a, ", "b");
constexpr auto query = joined("SELECT ", columns, " FROM t");

template <class Text>
consteval auto is_positive(const Text& column) {
    return joined("(", column, " > 0)");
}
constexpr auto condition = is_positive("a");

TEST(joined, puts_literals_and_what_was_joined_one_behind_the_other) {
    EXPECT_EQ(std::string_view(query), "SELECT a, b FROM t");
    EXPECT_EQ(std::string_view(condition), "(a > 0)");
}

TEST(joined, ends_with_a_zero) { EXPECT_STREQ(columns.characters.data(), "a, b"); }

}  // namespace
}  // namespace posthorn
