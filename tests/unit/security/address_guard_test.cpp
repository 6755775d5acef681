#include "security/address_guard.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

ip_address address(const std::string& text) { return boost::asio::ip::make_address(text); }

ip_network network(std::string_view text) { return ip_network::parse(text).value(); }

guard_rules with_plain_http() { return {.plain_http = true}; }

struct url_case {
    std::string url;
    std::string host;
    std::uint16_t port;
    std::string path;
    std::string query{};
};

TEST(address_guard, takes_urls_of_public_servers) {
    for (const auto& [url, host, port, path, query] : {
             url_case{"https://example.com", "example.com", 443, ""},
             url_case{"https://example.com/hook?a=b@c", "example.com", 443, "/hook", "a=b@c"},
             url_case{"https://example.com:8443/x", "example.com", 8443, "/x"},
             url_case{"https://EXAMPLE.Com./x", "example.com", 443, "/x"},
             url_case{"https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/"},
             url_case{"https://my_app.a-b.example/%2e%2e", "my_app.a-b.example", 443, "/%2e%2e"},
             url_case{"https://127.0.0.1.example.com/", "127.0.0.1.example.com", 443, "/"},
             url_case{"https://localhost.example.com/", "localhost.example.com", 443, "/"},
             url_case{"https://1.example/", "1.example", 443, "/"},
             url_case{"https://93.184.216.34/", "93.184.216.34", 443, "/"},
             url_case{"https://93.184.216.34./", "93.184.216.34", 443, "/"},
             url_case{"https://[2606:4700:0:0::1111]:444/", "2606:4700::1111", 444, "/"},
         }) {
        const auto taken = judge_url(url, {});
        ASSERT_TRUE(taken) << url << ": " << taken.error().for_operator();
        EXPECT_EQ(*taken, (http_url{true, host, port, path, query})) << url;
    }
}

TEST(address_guard, takes_plain_http_only_by_setting) {
    EXPECT_FALSE(judge_url("http://example.com/", {}));
    const auto taken = judge_url("http://example.com/", with_plain_http());
    ASSERT_TRUE(taken);
    EXPECT_EQ(*taken, (http_url{false, "example.com", 80, "/", ""}));
    EXPECT_TRUE(judge_url("https://example.com/", with_plain_http()));
}

struct refusal_case {
    std::string url;
    std::string_view reason;
};

class refused_url : public testing::TestWithParam<refusal_case> {};

TEST_P(refused_url, is_told_to_operators_with_its_reason_and_to_strangers_without) {
    const auto taken = judge_url(GetParam().url, with_plain_http());
    ASSERT_FALSE(taken) << GetParam().url;
    EXPECT_THAT(taken.error().for_operator(), HasSubstr(GetParam().reason)) << GetParam().url;
    EXPECT_EQ(taken.error().for_subscriber(), "address not allowed");
}

INSTANTIATE_TEST_SUITE_P(
    of_another_form, refused_url,
    testing::Values(
        refusal_case{"", "not one of https"}, refusal_case{"example.com", "not one of https"},
        refusal_case{"ftp://example.com/", "not one of https"},
        refusal_case{"HTTPS://example.com/", "not one of https"},
        refusal_case{"https:/example.com/", "not one of https"},
        refusal_case{"file:///etc/passwd", "not one of https"},
        refusal_case{"gopher://example.com:25/_HELO", "not one of https"},
        refusal_case{"javascript:alert(1)", "not one of https"},
        refusal_case{"https://example.com/#f", "fragment"},
        refusal_case{"https://example.com#@127.0.0.1/", "fragment"},
        refusal_case{"https://user@example.com/", "user or a password"},
        refusal_case{"https://user:word@example.com/", "user or a password"},
        refusal_case{"https://@example.com/", "user or a password"},
        refusal_case{"https://example.com@127.0.0.1/", "user or a password"},
        refusal_case{"https://127.0.0.1:80@example.com/", "user or a password"},
        refusal_case{"https://%31%32%37.0.0.1/", "percent-encoded"},
        refusal_case{"https://example%2ecom/", "percent-encoded"},
        refusal_case{"https://example.com%00.example/", "percent-encoded"},
        refusal_case{"https://[fe80::1%25eth0]/", "percent-encoded"},
        refusal_case{"https://[fe80::1%eth0]/", "percent-encoded"},
        refusal_case{"https://example.com/\r\nHost: x", "byte 0x0d"},
        refusal_case{"https://example.com/\n", "byte 0x0a"},
        refusal_case{"https://example.com/\tx", "byte 0x09"},
        refusal_case{" https://example.com/", "byte 0x20"},
        refusal_case{std::string("https://example.com\0.x.example/", 32), "byte 0x00"},
        refusal_case{"https://example.com/\x7f", "byte 0x7f"},
        refusal_case{"https://b\xc3\xbc"
                     "cher.example/",
                     "byte 0xc3"},
        // Full-width digits and the ideographic full stop, which some readers make plain ones of.
        refusal_case{"https://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", "byte 0xef"},
        refusal_case{"https://127\xe3\x80\x82"
                     "0.0.1/",
                     "byte 0xe3"},
        refusal_case{"https://example.com\\@127.0.0.1/", "user or a password"},
        refusal_case{"https://example.com\\x/", "not a URL"}, refusal_case{"https://", "not a URL"},
        refusal_case{"https:///x", "not a URL"}, refusal_case{"https://example.com:/", "not a URL"},
        refusal_case{"https://example.com:0/", "not a URL"},
        refusal_case{"https://example.com:65536/", "not a URL"},
        refusal_case{"https://example.com:80:90/", "not a URL"},
        refusal_case{"https://exa mple.com/", "byte 0x20"},
        refusal_case{"https://2606:4700::1111/", "not a URL"},
        refusal_case{"https://[::1/", "not a URL"},
        refusal_case{"https://[127.0.0.1]/", "not a URL"},
        refusal_case{"https://example..com/", "not a host name"},
        refusal_case{"https://example.com../", "not a host name"},
        refusal_case{"https://.example.com/", "not a host name"},
        refusal_case{"https://-a.example/", "not a host name"},
        refusal_case{"https://a-.example/", "not a host name"},
        refusal_case{"https://" + std::string(64, 'a') + ".example/", "not a host name"},
        refusal_case{"https://example.com/" + std::string(2048 - 19, 'x'), "2049 bytes"}));

INSTANTIATE_TEST_SUITE_P(of_the_local_network, refused_url,
                         testing::Values(refusal_case{"https://localhost/", "no dot"},
                                         refusal_case{"https://LOCALHOST:8443/", "no dot"},
                                         refusal_case{"https://localhost./", "no dot"},
                                         refusal_case{"https://intranet/", "no dot"},
                                         refusal_case{"https://a.localhost/", "ends in .localhost"},
                                         refusal_case{"https://printer.local/", "ends in .local"},
                                         refusal_case{"https://printer.LOCAL./", "ends in .local"},
                                         refusal_case{"https://metadata.google.internal/",
                                                      "ends in .internal"}));

INSTANTIATE_TEST_SUITE_P(
    with_a_disguised_address, refused_url,
    testing::Values(refusal_case{"https://127.1/", "four plain decimals"},
                    refusal_case{"https://127.0.1/", "four plain decimals"},
                    refusal_case{"https://2130706433/", "four plain decimals"},
                    refusal_case{"https://0/", "four plain decimals"},
                    refusal_case{"https://0x7f000001/", "four plain decimals"},
                    refusal_case{"https://0X7F.0.0.0x1/", "four plain decimals"},
                    refusal_case{"https://0x7f.1/", "four plain decimals"},
                    refusal_case{"https://127.0.0.0x1/", "four plain decimals"},
                    refusal_case{"https://1.0x/", "four plain decimals"},
                    refusal_case{"https://0177.0.0.1/", "four plain decimals"},
                    refusal_case{"https://017700000001/", "four plain decimals"},
                    refusal_case{"https://127.0.0.01/", "four plain decimals"},
                    refusal_case{"https://256.0.0.1/", "four plain decimals"},
                    refusal_case{"https://1.2.3.4.5/", "four plain decimals"},
                    refusal_case{"https://93.184.216.034/", "four plain decimals"},
                    refusal_case{"https://example.1/", "four plain decimals"}));

INSTANTIATE_TEST_SUITE_P(
    with_an_address_that_is_not_public, refused_url,
    testing::Values(refusal_case{"https://127.0.0.1/", "this machine"},
                    refusal_case{"https://127.0.0.1./", "this machine"},
                    refusal_case{"https://10.0.0.1/", "private"},
                    refusal_case{"https://169.254.169.254/latest/meta-data/", "metadata"},
                    refusal_case{"https://[::1]/", "not public"},
                    refusal_case{"https://[::]/", "not public"},
                    refusal_case{"https://[::ffff:127.0.0.1]/", "this machine"},
                    refusal_case{"https://[::ffff:7f00:1]/", "this machine"},
                    refusal_case{"https://[64:ff9b::10.0.0.1]/", "private"}));

TEST(address_guard, takes_a_url_of_2048_bytes) {
    EXPECT_TRUE(judge_url("https://example.com/" + std::string(2048 - 20, 'x'), {}));
}

TEST(address_guard, takes_names_up_to_their_limits) {
    const std::string label(63, 'a');
    const auto most = label + "." + label + "." + label + "." + std::string(61, 'a');
    ASSERT_EQ(most.size(), 253U);
    EXPECT_TRUE(judge_url("https://" + most + "/", {}));
    EXPECT_FALSE(judge_url("https://" + most + "a/", {}));
}

TEST(address_guard, refuses_the_ports_of_other_protocols) {
    for (const int port :
         {1,   7,    9,    19,   20,   21,   22,   23,   25,   53,   69,    110,
          119, 123,  135,  139,  143,  161,  389,  465,  514,  587,  636,   993,
          995, 2049, 3306, 5060, 5432, 6000, 6379, 6667, 6697, 9100, 10080, 11211}) {
        const auto taken = judge_url("https://example.com:" + std::to_string(port) + "/", {});
        ASSERT_FALSE(taken) << port;
        EXPECT_THAT(taken.error().for_operator(), HasSubstr(std::to_string(port)));
    }
    for (const int port : {80, 443, 3000, 8000, 8080, 8443, 65535})
        EXPECT_TRUE(judge_url("https://example.com:" + std::to_string(port) + "/", {})) << port;
}

struct range_case {
    std::string first;
    std::string last;
    std::string before;  // The addresses beside it, where those are public.
    std::string after;
};

class refused_range : public testing::TestWithParam<range_case> {};

TEST_P(refused_range, is_refused_from_its_first_address_to_its_last_and_no_further) {
    const auto& [first, last, before, after] = GetParam();
    EXPECT_FALSE(judge_address(address(first), {})) << first;
    EXPECT_FALSE(judge_address(address(last), {})) << last;
    for (const auto& beside : {before, after})
        if (!beside.empty()) EXPECT_TRUE(judge_address(address(beside), {})) << beside;
}

INSTANTIATE_TEST_SUITE_P(
    of_ipv4, refused_range,
    testing::Values(range_case{"0.0.0.0", "0.255.255.255", "", "1.0.0.0"},
                    range_case{"10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
                    range_case{"100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
                    range_case{"127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
                    range_case{"168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"},
                    range_case{"169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
                    range_case{"172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
                    range_case{"192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"},
                    range_case{"192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
                    range_case{"192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"},
                    range_case{"192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
                    range_case{"198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
                    range_case{"198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"},
                    range_case{"203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"},
                    range_case{"224.0.0.0", "255.255.255.255", "223.255.255.255", ""}));

INSTANTIATE_TEST_SUITE_P(
    of_ipv6, refused_range,
    testing::Values(range_case{"::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "2000::"},
                    range_case{"4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                               "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
                    range_case{"2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                               "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
                    range_case{"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                               "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
                    range_case{"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                               "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
                    range_case{"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                               "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
                    range_case{"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "", ""}));

TEST(address_guard, refuses_every_other_kind_of_inner_address) {
    for (const std::string text :
         {"::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::127.0.0.1",
          "::ffff:0:127.0.0.1", "2001:0:4136:e378::1", "2002:7f00:1::", "100::1", "5f00::1"})
        EXPECT_FALSE(judge_address(address(text), {})) << text;
}

TEST(address_guard, judges_mapped_and_nat64_addresses_by_the_ipv4_inside) {
    for (const std::string wrapped : {"::ffff:", "64:ff9b::"}) {
        EXPECT_TRUE(judge_address(address(wrapped + "93.184.216.34"), {})) << wrapped;
        for (const std::string inside : {"127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1",
                                         "0.0.0.0", "255.255.255.255"})
            EXPECT_FALSE(judge_address(address(wrapped + inside), {})) << wrapped << inside;
    }
}

TEST(address_guard, refuses_this_machines_own_addresses_in_every_form) {
    const guard_rules rules{.own = {address("93.184.216.34"), address("2606:4700::1")}};
    for (const std::string text :
         {"93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34", "2606:4700::1"}) {
        EXPECT_TRUE(judge_address(address(text), {})) << text;
        const auto refused = judge_address(address(text), rules);
        ASSERT_FALSE(refused) << text;
        EXPECT_THAT(refused.error().for_operator(), HasSubstr("this machine"));
    }
    EXPECT_TRUE(judge_address(address("93.184.216.35"), rules));
    EXPECT_FALSE(judge_url("https://93.184.216.34/", rules));
}

TEST(address_guard, lets_pass_what_an_operator_allows_and_nothing_beside_it) {
    const guard_rules rules{
        .allow = {network("10.1.0.0/16"), network("fd00::/8"), network("127.0.0.1")},
        .own = {address("10.1.0.9")}};
    for (const std::string text :
         {"10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "fd12::1", "127.0.0.1", "10.1.0.9"})
        EXPECT_TRUE(judge_address(address(text), rules)) << text;
    for (const std::string text : {"10.0.255.255", "10.2.0.0", "fc00::1", "127.0.0.2", "::1"})
        EXPECT_FALSE(judge_address(address(text), rules)) << text;
    EXPECT_TRUE(judge_url("https://10.1.2.3/", rules));
    EXPECT_FALSE(judge_url("https://localhost/", rules)) << "networks allow no names";
}

TEST(address_guard, uses_none_of_an_answer_that_holds_one_refused_address) {
    const std::vector good{address("93.184.216.34"), address("2606:4700::1")};
    EXPECT_TRUE(judge_answer(good, {}));
    for (const std::string text : {"127.0.0.1", "::1", "::ffff:10.0.0.1"})
        for (std::size_t place = 0; place <= good.size(); ++place) {
            auto answer = good;
            answer.insert(answer.begin() + static_cast<std::ptrdiff_t>(place), address(text));
            const auto refused = judge_answer(answer, {});
            ASSERT_FALSE(refused) << text << " at " << place;
            EXPECT_THAT(refused.error().for_operator(), HasSubstr(text));
        }
    EXPECT_FALSE(judge_answer({}, {})) << "what has no address leads nowhere";
}

TEST(ip_network, is_read_and_written) {
    for (const std::string_view text :
         {"10.0.0.0/8", "0.0.0.0/0", "192.168.1.7/32", "fd00::/8", "::/0", "2606:4700::/127"})
        EXPECT_EQ(network(text).text(), text);
    EXPECT_EQ(network("10.0.0.1").text(), "10.0.0.1/32");
    EXPECT_EQ(network("fd00::1").text(), "fd00::1/128");
}

TEST(ip_network, holds_the_addresses_of_its_family_that_share_its_prefix) {
    EXPECT_TRUE(network("0.0.0.0/0").contains(address("255.255.255.255")));
    EXPECT_FALSE(network("0.0.0.0/0").contains(address("fd00::1")));
    EXPECT_FALSE(network("::/0").contains(address("10.0.0.1")));
    EXPECT_FALSE(network("::/0").contains(address("::ffff:10.0.0.1"))) << "that is IPv4";
    EXPECT_TRUE(network("172.16.0.0/12").contains(address("172.31.255.255")));
    EXPECT_FALSE(network("172.16.0.0/12").contains(address("172.32.0.0")));
    EXPECT_TRUE(network("fd00::/9").contains(address("fd7f::1")));
    EXPECT_FALSE(network("fd00::/9").contains(address("fd80::1")));
}

TEST(ip_network, refuses_what_is_none_and_says_what_to_write) {
    for (const std::string_view text :
         {"", "/", "10.0.0.0/", "/8", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1", "10.0.0.0/8x",
          "10.0.0.0/ 8", "10.0/8", "010.0.0.0/8", "example.com/8", "fe80::1%eth0/64",
          "10.0.0.0/8/8"}) {
        const auto read = ip_network::parse(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code(), error_code::invalid_argument);
        EXPECT_THAT(read.error().what(), HasSubstr("10.0.0.0/8"));
    }
    EXPECT_THAT(ip_network::parse("10.1.2.3/8").error().what(), HasSubstr("write 10.0.0.0/8"));
    EXPECT_THAT(ip_network::parse("fd00::1/8").error().what(), HasSubstr("write fd00::/8"));
    EXPECT_THAT(ip_network::parse("::ffff:10.0.0.0/104").error().what(), HasSubstr("as IPv4"));
    EXPECT_THAT(ip_network::parse("64:ff9b::/96").error().what(), HasSubstr("as IPv4"));
}

TEST(ip_networks, are_read_from_one_line_or_not_at_all) {
    EXPECT_EQ(parse_networks("").value(), std::vector<ip_network>{});
    EXPECT_EQ(parse_networks(" 10.0.0.0/8,::1 ").value(),
              (std::vector{network("10.0.0.0/8"), network("::1")}));
    const auto wrong = parse_networks("10.0.0.0/8, stock.example");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().what(), HasSubstr("'stock.example' is not a network"));
}

}  // namespace
}  // namespace posthorn
