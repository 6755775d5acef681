#include "url/url_destination.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

guard_rules allowing(std::string_view networks, bool plain_http = true) {
    return {.plain_http = plain_http, .allow = parse_networks(networks).value()};
}

TEST(url_destination, is_the_url_of_a_public_server_over_https) {
    EXPECT_EQ(judge_destination("https://Stock.example.", {}),
              (http_url{true, "stock.example", 443, "", ""}));
    EXPECT_EQ(judge_destination("https://gate.example:7400/orders/", {}),
              (http_url{true, "gate.example", 7400, "/orders/", ""}));
    EXPECT_EQ(judge_destination("https://192.88.98.1", {}),
              (http_url{true, "192.88.98.1", 443, "", ""}));
}

TEST(url_destination, is_of_an_inner_network_or_without_tls_only_if_that_is_set) {
    EXPECT_EQ(judge_destination("http://10.1.2.3:7400", allowing("10.0.0.0/8")),
              (http_url{false, "10.1.2.3", 7400, "", ""}));
    EXPECT_EQ(judge_destination("http://[::1]:7400", allowing("::1")),
              (http_url{false, "::1", 7400, "", ""}));
    EXPECT_FALSE(judge_destination("http://10.1.2.3:7400", allowing("10.1.2.4")));
    EXPECT_FALSE(judge_destination("http://10.1.2.3:7400", allowing("10.0.0.0/8", false)));
}

TEST(url_destination, says_of_each_that_cannot_be_called_why_and_what_to_do) {
    struct refused {
        std::string url;
        std::string_view why;
        std::string_view todo;
    };
    const std::vector<refused> cases{
        {"http://stock.example", "not https", "urls.plain_http = true"},
        {"ftp://stock.example", "another scheme", "[routes]"},
        {"HTTPS://stock.example", "another scheme", "[routes]"},
        {"grpc://stock.example", "another scheme", "[routes]"},
        {"https://" + std::string(64 << 10, 'a'), "65544 bytes", "[routes]"},
        {"https://stock.example/" + std::string(234, 'a'), "256 bytes", "[routes]"},
        {"https://user:password@stock.example", "a user or a password", "another URL"},
        {"https://stock.example/#top", "a fragment", "another URL"},
        {"https://stock.example?a=b", "a query", "leave it out"},
        {"https://stock.example/a?", "a query", "leave it out"},
        {"https://10.0.0.1", "a private network", "urls.allow"},
        {"https://127.0.0.1", "this machine", "urls.allow"},
        {"https://[::1]", "not public", "urls.allow"},
        {"https://[fe80::1%25eth0]", "percent-encoded", "another URL"},
        {"https://[fe80::1%eth0]", "percent-encoded", "another URL"},
        {"https://169.254.169.254/latest", "the metadata of clouds", "urls.allow"},
        {"https://0x7f000001", "another form", "another URL"},
        {"https://stock", "no dot", "another URL"},
        {"https://stock.internal", "the local network", "another URL"},
        {"https://stock.example:25", "port 25", "another URL"},
        {"https://sto\xc3\xa7k.example", "punycode", "another URL"},
        {"https://stock.example/\r\nX: y", "0x0d", "another URL"},
        {"https://", "not a URL", "another URL"},
    };
    for (const auto& [url, why, todo] : cases) {
        const auto judged = judge_destination(url, {});
        ASSERT_FALSE(judged) << url.substr(0, 300);
        EXPECT_THAT(judged.error(), AllOf(HasSubstr(why), HasSubstr(todo)));
        EXPECT_THAT(judged.error(), Not(HasSubstr("password@"))) << "a password is quoted";
        EXPECT_LT(judged.error().size(), 400U);
    }
}

TEST(url_destination, with_255_bytes_can_still_be_signed_for) {
    const auto url = "https://stock.example/" + std::string(233, 'a');
    EXPECT_EQ(url.size(), url_destination_bytes_max);
    EXPECT_TRUE(judge_destination(url, {}));
}

TEST(url_attempt, that_the_guard_refused_is_tried_again_and_counts) {
    const auto judged = judge_attempt({.what = outcome::unanswered,
                                       .error = "invalid_argument: 10.0.0.1 is refused",
                                       .code = error_code::invalid_argument});
    EXPECT_EQ(judged.what, outcome::transient);
    EXPECT_THAT(judged.error, AllOf(HasSubstr("10.0.0.1 is refused"), HasSubstr("urls.allow")));
    EXPECT_EQ(judged.code, std::nullopt);
}

TEST(url_attempt, that_found_no_connection_free_waits_for_a_second_uncharged) {
    const auto judged = judge_attempt({.what = outcome::unanswered,
                                       .error = "overloaded: all 256 connections are in use",
                                       .code = error_code::overloaded});
    EXPECT_EQ(judged.what, outcome::throttled);
    EXPECT_EQ(judged.retry_after, 1s);
    EXPECT_THAT(judged.error, HasSubstr("urls.connections_max"));
}

TEST(url_attempt, of_any_other_kind_is_what_it_was) {
    for (const delivery& each :
         {delivery{.what = outcome::delivered, .payload = "1"},
          delivery{.what = outcome::unanswered, .error = "e", .code = error_code::unreachable},
          delivery{.what = outcome::permanent, .error = "e", .code = error_code::invalid_argument},
          delivery{.what = outcome::undeliverable, .code = error_code::secret_unavailable},
          delivery{.what = outcome::throttled, .retry_after = 7s, .code = error_code::overloaded}})
        EXPECT_EQ(judge_attempt(each), each);
}

}  // namespace
}  // namespace posthorn
