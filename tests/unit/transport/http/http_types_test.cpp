#include <gtest/gtest.h>

#include "transport/http/types.hpp"

namespace posthorn {
namespace {

TEST(http_headers, are_found_whatever_their_case) {
    const http_headers headers{{"Content-Type", "a"}, {"X", "first"}, {"x", "second"}};
    EXPECT_EQ(headers.find("content-TYPE"), "a");
    EXPECT_EQ(headers.find("x"), "first");
    EXPECT_EQ(headers.find("content-typ"), std::nullopt);
}

TEST(split_target, separates_path_and_query) {
    EXPECT_EQ(split_target("/a/b"), (http_target{"/a/b", ""}));
    EXPECT_EQ(split_target("/a?b=c?d"), (http_target{"/a", "b=c?d"}));
    EXPECT_EQ(split_target("/?"), (http_target{"/", ""}));
}

TEST(split_target, drops_the_scheme_and_host_that_proxies_send) {
    EXPECT_EQ(split_target("http://host:80/a?b"), (http_target{"/a", "b"}));
    EXPECT_EQ(split_target("https://host"), (http_target{"/", ""}));
}

TEST(split_target, refuses_what_names_no_path) {
    for (const std::string_view target : {"", "*", "a/b", "host:80", "?a"})
        EXPECT_EQ(split_target(target), std::nullopt) << target;
}

TEST(is_loopback, holds_for_this_machine_only) {
    for (const std::string_view peer : {"127.0.0.1", "127.9.9.9", "::1"})
        EXPECT_TRUE(is_loopback(peer)) << peer;
    for (const std::string_view peer : {"", "localhost", "10.0.0.1", "::2", "127.0.0.1:80"})
        EXPECT_FALSE(is_loopback(peer)) << peer;
}

TEST(is_loopback, looks_at_the_whole_text) {
    EXPECT_FALSE(is_loopback(std::string_view("127.0.0.1\0x", 11)));
}

TEST(error_response, is_json_whatever_bytes_it_quotes) {
    EXPECT_EQ(error_response(404, "not_found", "nothing is at /\xff<\"").body,
              "{\"error\":\"not_found\",\"message\":\"nothing is at /\uFFFD<\\\"\"}");
}

}  // namespace
}  // namespace posthorn
