#include "base/text/http_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(http_url, is_read_in_its_parts) {
    EXPECT_EQ(*parse_http_url("http://stock:7400"), (http_url{false, "stock", 7400, "", ""}));
    EXPECT_EQ(*parse_http_url("https://a-b.example/x/y?q=1&r=?"),
              (http_url{true, "a-b.example", 443, "/x/y", "q=1&r=?"}));
    EXPECT_EQ(*parse_http_url("http://10.0.0.1/"), (http_url{false, "10.0.0.1", 80, "/", ""}));
    EXPECT_EQ(*parse_http_url("http://[::1]:1"), (http_url{false, "::1", 1, "", ""}));
    EXPECT_EQ(*parse_http_url("http://[::1]/a"), (http_url{false, "::1", 80, "/a", ""}));
    EXPECT_EQ(*parse_http_url("http://host?q"), (http_url{false, "host", 80, "", "q"}));
}

TEST(http_url, tells_what_stands_before_a_path_of_ours) {
    for (const std::string_view text : {"http://a", "http://a/", "http://a//"})
        EXPECT_EQ(path_before_ours(parse_http_url(text).value()), "") << text;
    for (const std::string_view text : {"http://a/b/c", "http://a/b/c/", "http://a/b/c//"})
        EXPECT_EQ(path_before_ours(parse_http_url(text).value()), "/b/c") << text;
}

TEST(http_url, is_told_from_a_name_by_its_scheme) {
    for (const std::string_view text : {"http://", "https://a", "HTTP://a", "a+b-c.1://x"})
        EXPECT_TRUE(has_url_scheme(text)) << text;
    for (const std::string_view text :
         {"", "://", "stock", "http:", "http:/a", "1a://x", "a b://x", "webhook:7", "a/b://c"})
        EXPECT_FALSE(has_url_scheme(text)) << text;
    EXPECT_TRUE(has_http_scheme("http://a"));
    EXPECT_TRUE(has_http_scheme("https://a"));
    for (const std::string_view text : {"", "http:/", "httpx://a", "HTTP://a", "ftp://a"})
        EXPECT_FALSE(has_http_scheme(text)) << text;
}

TEST(http_url, refuses_what_it_could_not_send_as_it_was_meant) {
    for (const std::string_view text : {"",
                                        "host",
                                        "ftp://host",
                                        "HTTP://host",
                                        "http://",
                                        "http:///a",
                                        "http://:80",
                                        "http://host:",
                                        "http://host:0",
                                        "http://host:65536",
                                        "http://host:8x",
                                        "http://user@host",
                                        "http://user:pw@host",
                                        "http://host/a#b",
                                        "http://host/a b",
                                        "http://host/\r\nX: y",
                                        "http://[::1",
                                        "http://[host]",
                                        "http://[::1]x",
                                        "http://::1",
                                        "http://host/{a}",
                                        "http://h\xc3\xb6st"}) {
        const auto refused = parse_http_url(text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument) << text;
    }
}

TEST(http_url, names_its_port_only_where_the_scheme_does_not) {
    EXPECT_EQ(authority(*parse_http_url("http://host")), "host");
    EXPECT_EQ(authority(*parse_http_url("http://host:443")), "host:443");
    EXPECT_EQ(authority(*parse_http_url("https://host:443")), "host");
    EXPECT_EQ(authority(*parse_http_url("http://[::1]:7400/a")), "[::1]:7400");
    EXPECT_EQ(origin(*parse_http_url("https://host:1/a?b")), "https://host:1");
}

}  // namespace
}  // namespace posthorn
