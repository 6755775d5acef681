#include "transport/host_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(host_port, reads_addresses_and_prints_them_back) {
    for (const std::string text : {"127.0.0.1:7400", "0.0.0.0:0", "[::1]:65535", "localhost:80"}) {
        const auto parsed = parse_host_port(text);
        ASSERT_TRUE(parsed.has_value()) << text;
        EXPECT_EQ(to_string(*parsed), text);
    }
    EXPECT_EQ(parse_host_port("[::1]:7400").value(), (host_port{"::1", 7400}));
}

TEST(host_port, refuses_what_cannot_be_listened_on) {
    for (const std::string_view text :
         {"", ":", "7400", ":7400", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
          "127.0.0.1:80x", "127.0.0.1: 80", "::1:7400", "[::1:7400", "[127.0.0.1]:1", "[]:1",
          "[localhost]:1", "example.org:80", "256.0.0.1:80"}) {
        const auto parsed = parse_host_port(text);
        ASSERT_FALSE(parsed.has_value()) << text;
        EXPECT_EQ(parsed.error().code(), error_code::address_unavailable);
        EXPECT_THAT(parsed.error().what(), testing::HasSubstr("such as 127.0.0.1:7400")) << text;
    }
}

TEST(host_port, refuses_an_address_with_more_behind_its_end) {
    EXPECT_FALSE(parse_host_port(std::string_view("127.0.0.1\0x:80", 14)).has_value());
}

}  // namespace
}  // namespace posthorn
