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

}  // namespace
}  // namespace posthorn
