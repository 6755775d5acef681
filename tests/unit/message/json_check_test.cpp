#include "message/json_check.hpp"

#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

bool is_json(std::string_view text) { return check_json(text).has_value(); }

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(json_check, takes_every_kind_of_value) {
    for (const auto* text : {"{}", "[]", "null", "true", "-1.5e3", "\"\"",
                             " {\"a\": [1, \"é\"]} \n", "\"\\u20ac\"", "18446744073709551615"})
        EXPECT_TRUE(is_json(text)) << text;
}

TEST(json_check, rejects_what_is_not_one_value) {
    for (const auto* text : {"", "  ", "{", "[1,]", "{\"a\"}", "{} {}", "{}x", "nul", "01", "'a'",
                             "// no\n{}", "NaN", "\"\n\""})
        EXPECT_FALSE(is_json(text)) << text;
}

TEST(json_check, rejects_bytes_that_are_not_utf8) {
    EXPECT_FALSE(is_json("\"\xff\""));
    EXPECT_FALSE(is_json("\"\xed\xa0\x80\""));
    EXPECT_FALSE(is_json(std::string_view("{}\0", 3)));
}

TEST(json_check, allows_the_depth_limit_and_no_more) {
    EXPECT_TRUE(is_json(nested(json_depth_max)));
    EXPECT_FALSE(is_json(nested(json_depth_max + 1)));
    EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST(json_check, tells_objects_from_other_values) {
    EXPECT_TRUE(check_json(" {\"a\":1}", json_kind::object));
    EXPECT_FALSE(check_json("[]", json_kind::object));
    EXPECT_FALSE(check_json("{", json_kind::object));
}

TEST(json_check, says_where_and_quotes_nothing) {
    const auto checked = check_json("{\"secret\": oops}");
    ASSERT_FALSE(checked);
    const std::string text = checked.error().what();
    EXPECT_EQ(checked.error().code(), error_code::invalid_payload);
    EXPECT_NE(text.find("byte 11"), text.npos) << text;
    EXPECT_EQ(text.find("secret"), text.npos) << text;
}

}  // namespace
}  // namespace posthorn
