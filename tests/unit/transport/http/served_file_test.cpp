#include "transport/http/served_file.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::string header(const http_response& from, std::string_view name) {
    return std::string(from.headers.find(name).value_or(""));
}

TEST(is_named_by_content, knows_names_that_end_in_a_hash) {
    EXPECT_TRUE(is_named_by_content("assets/desk-Bv96Wtyz.js"));
    EXPECT_TRUE(is_named_by_content("assets/icon-Blpw-Ll-.svg"));
    EXPECT_FALSE(is_named_by_content("assets/licences.txt"));
    EXPECT_FALSE(is_named_by_content("index.html"));
}

TEST(answer_with_file, compresses_for_those_who_take_it) {
    constexpr served_file file{"assets/desk-Bv96Wtyz.js", "plain", "packed"};
    http_request request;
    const auto plain = answer_with_file(file, request, "default-src 'none'");
    EXPECT_EQ(plain.body, "plain");
    EXPECT_EQ(header(plain, "Content-Encoding"), "");
    request.headers.add("Accept-Encoding", "br, gzip");
    const auto packed = answer_with_file(file, request, "default-src 'none'");
    EXPECT_EQ(packed.body, "packed");
    EXPECT_EQ(header(packed, "Content-Encoding"), "gzip");
    for (const auto& each : {plain, packed}) {
        EXPECT_EQ(header(each, "Vary"), "Accept-Encoding");
        EXPECT_EQ(header(each, "Content-Security-Policy"), "default-src 'none'");
        EXPECT_EQ(header(each, "Content-Type"), "text/javascript; charset=utf-8");
        EXPECT_EQ(header(each, "Cache-Control"), "public, max-age=31536000, immutable");
    }
}

TEST(answer_with_file, says_what_a_file_is_by_its_ending) {
    EXPECT_EQ(media_type_of("index.html"), "text/html; charset=utf-8");
    EXPECT_EQ(media_type_of("assets/a.svg"), "image/svg+xml");
    EXPECT_EQ(media_type_of("assets/licences.txt"), "text/plain; charset=utf-8");
}

}  // namespace
}  // namespace posthorn
