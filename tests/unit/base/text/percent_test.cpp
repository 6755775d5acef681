#include "base/text/percent.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(percent_decode, gives_bytes_for_hexadecimal_digits_of_either_case) {
    EXPECT_EQ(percent_decode("a%20b%2fc%2F+"), "a b/c/+");
    EXPECT_EQ(percent_decode(""), "");
    EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
    for (const std::string_view text : {"%", "%4", "%4g", "%g4", "a%", "%+1", "%%41"})
        EXPECT_EQ(percent_decode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace posthorn
