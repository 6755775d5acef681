#include "transport/http/guarded/custom_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

TEST(custom_headers, may_say_what_is_theirs) {
    for (const auto& [name, value] : {http_headers::field{"Authorization", "Bearer abc"},
                                      {"X-Api-Key", "a b\tc"},
                                      {"X-Empty", ""},
                                      {"X-Webhook-Id", "theirs"}})
        EXPECT_TRUE(check_custom_header(name, value)) << name;
}

TEST(custom_headers, replace_none_of_ours_whatever_their_case) {
    for (const std::string_view name : {"Host",
                                        "hOST",
                                        "Content-Length",
                                        "Content-Type",
                                        "Content-Encoding",
                                        "Transfer-Encoding",
                                        "Connection",
                                        "Keep-Alive",
                                        "TE",
                                        "Trailer",
                                        "Upgrade",
                                        "Expect",
                                        "Via",
                                        "Proxy-Authorization",
                                        "Proxy-Connection",
                                        "Accept-Encoding",
                                        "User-Agent",
                                        "webhook-id",
                                        "Webhook-Signature",
                                        "webhook-timestamp",
                                        "X-Outbox-Signature",
                                        "X-OUTBOX-anything",
                                        "rf-hmac"}) {
        const auto refused = check_custom_header(name, "x");
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
        EXPECT_THAT(refused.error().what(), HasSubstr(name));
    }
}

TEST(custom_headers, speak_for_no_other_line) {
    for (const std::string_view name : {"", "X A", "X:", "X\r\nHost", "X\n", "\xc3\xbc", "X(y)"})
        EXPECT_FALSE(check_custom_header(name, "x")) << name;
    for (const std::string& value :
         {std::string("a\r\nHost: b"), std::string("a\nb"), std::string("a\rb"),
          std::string("a\0b", 3), std::string("a\x7f"), std::string("\x1b[0m"),
          std::string("\xc3\xbc")})
        EXPECT_FALSE(check_custom_header("X-A", value)) << value;
}

TEST(custom_headers, are_bounded_in_length_and_number_and_are_there_once) {
    EXPECT_TRUE(check_custom_header("X-A", std::string(4096 - 3, 'x')));
    EXPECT_FALSE(check_custom_header("X-A", std::string(4096 - 2, 'x')));
    http_headers many;
    for (int i = 0; i < 32; ++i) many.add("X-" + std::to_string(i), "x");
    EXPECT_TRUE(check_custom_headers(many));
    many.add("X-33", "x");
    EXPECT_FALSE(check_custom_headers(many));
    EXPECT_FALSE(check_custom_headers({{"X-A", "1"}, {"x-a", "2"}}));
}

}  // namespace
}  // namespace posthorn
