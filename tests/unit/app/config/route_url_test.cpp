#include "app/config/route_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(route_url, knows_four_schemes) {
    EXPECT_EQ(parse_route_url("inprocess:").value(), route_url{});
    EXPECT_EQ(parse_route_url("http://stock").value(),
              (route_url{.scheme = "http", .host = "stock", .port = 80}));
    EXPECT_EQ(parse_route_url("https://stock/").value(),
              (route_url{.scheme = "https", .host = "stock", .port = 443}));
    EXPECT_EQ(parse_route_url("http://[::1]:7400/gate/").value(),
              (route_url{.scheme = "http", .host = "::1", .port = 7400, .path = "/gate"}));
    EXPECT_EQ(parse_route_url("unix:///run/stock.sock").value(),
              (route_url{.scheme = "unix", .path = "/run/stock.sock"}));
}

TEST(route_url, may_name_several_addresses) {
    using testing::ElementsAre;
    EXPECT_THAT(addresses_in("http://one:1"), ElementsAre("http://one:1"));
    EXPECT_THAT(addresses_in("http://one:1,http://two:2"),
                ElementsAre("http://one:1", "http://two:2"));
    EXPECT_THAT(addresses_in("http://one:1/a,b , unix:///run/c,d.sock, grpc://e:5"),
                ElementsAre("http://one:1/a,b", "unix:///run/c,d.sock", "grpc://e:5"));
    EXPECT_THAT(addresses_in("kafka://me@b1:9092,b2/t"), ElementsAre("kafka://me@b1:9092,b2/t"));
    EXPECT_THAT(addresses_in(""), ElementsAre(""));
    EXPECT_THAT(addresses_in("http://one:1,"), ElementsAre("http://one:1,"));
    EXPECT_THAT(addresses_in(",http://one:1"), ElementsAre("", "http://one:1"));
}

TEST(route_url, is_signed_if_one_of_its_addresses_is) {
    EXPECT_TRUE(is_signed("http://one:1,http://two:2"));
    EXPECT_TRUE(is_signed("inprocess:,http://one:1"));
    EXPECT_FALSE(is_signed("inprocess:"));
    EXPECT_FALSE(is_signed("carrier pigeon"));
}

TEST(route_url, names_a_place_by_grpc) {
    EXPECT_EQ(parse_route_url("grpc://h:5001").value(),
              (route_url{.scheme = "grpc", .host = "h", .port = 5001}));
    EXPECT_EQ(parse_route_url("grpc://[::1]:5001/RFReceiver/Receive").value(),
              (route_url{.scheme = "grpc", .host = "::1", .port = 5001}));
    EXPECT_EQ(parse_route_url("grpcs://h:5001/").value(),
              (route_url{.scheme = "grpcs", .host = "h", .port = 5001}));
}

TEST(route_url, names_a_pipe) {
    EXPECT_EQ(parse_route_url("pipe://rf-stock").value(),
              (route_url{.scheme = "pipe", .path = "rf-stock"}));
}

TEST(route_url, refuses_everything_else_and_says_what_there_is) {
    for (const std::string_view text : {"",
                                        "stock",
                                        "inprocess",
                                        "inprocess:x",
                                        "http:",
                                        "http://",
                                        "http://:80",
                                        "http://h:",
                                        "http://h:0",
                                        "http://h:65536",
                                        "http://h:8x",
                                        "http://[::1",
                                        "http://[::1]x",
                                        "http://[]",
                                        "http://a b",
                                        "http://u:p@h",
                                        "http://h/?q",
                                        "http://h/#f",
                                        "http://h?",
                                        "http://stöck",
                                        "http://[stock]",
                                        "http://a]b",
                                        "http://h/{x}",
                                        "http://h\n",
                                        "unix:",
                                        "unix://",
                                        "unix:///",
                                        "unix://run/x",
                                        "grpc://h",
                                        "grpc://h/",
                                        "grpc://:1",
                                        "grpc://[::1]",
                                        "grpc://h:1/x",
                                        "grpcx://h:1",
                                        "pipe://",
                                        "pipe://a/b",
                                        "pipe://..\\x",
                                        "pipe://a b",
                                        "HTTP://h"}) {
        const auto parsed = parse_route_url(text);
        ASSERT_FALSE(parsed.has_value()) << text;
        EXPECT_EQ(parsed.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(parsed.error().what(), testing::HasSubstr("write http://HOST:PORT"));
    }
}

TEST(route_url, puts_the_destination_into_a_default_route) {
    EXPECT_EQ(for_service("http://{service}.local/{service}", "stock"), "http://stock.local/stock");
    EXPECT_EQ(for_service("http://h", "stock"), "http://h");
    EXPECT_EQ(for_service("{service}", "{service}"), "{service}");
}

TEST(route_url, refuses_a_socket_whose_path_the_system_would_cut_short) {
    EXPECT_FALSE(parse_route_url(std::string_view("unix:///run/a\0b", 15)).has_value());
}

}  // namespace
}  // namespace posthorn
