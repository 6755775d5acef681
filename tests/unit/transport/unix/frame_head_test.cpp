#include "transport/unix/frame_head.hpp"

#include <string>
#include <string_view>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const signature_headers signature{"v2",    "c7c27348fbf33a91",         "orders",
                                  "stock", "2026-02-14T12:00:00.000Z", "bFY6WN//ha+yyr=="};

wire_request whole_request() {
    return {.path = "/_rf/receive",
            .content_type = "application/json; charset=utf-8",
            .signature = signature,
            .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            .body = "{}"};
}

auto tie(const wire_request& request) {
    return std::tie(request.path, request.content_type, request.signature, request.traceparent,
                    request.body);
}
auto tie(const wire_reply& reply) {
    return std::tie(reply.status, reply.content_type, reply.signature, reply.retry_after,
                    reply.body);
}

/// The head after the sizes, whose first is checked to be its length.
std::string head_of(const std::string& start) {
    EXPECT_EQ(static_cast<unsigned char>(start[2]) * 256U + static_cast<unsigned char>(start[3]),
              start.size() - 8);
    return start.substr(8);
}

TEST(frame_head, writes_a_request_as_the_reference_says) {
    EXPECT_EQ(head_of(request_start(17, whole_request()).value()),
              "17 POST /_rf/receive\n"
              "content-type: application/json; charset=utf-8\n"
              "rf-scheme: v2\n"
              "rf-key: c7c27348fbf33a91\n"
              "rf-source: orders\n"
              "rf-destination: stock\n"
              "rf-timestamp: 2026-02-14T12:00:00.000Z\n"
              "rf-hmac: bFY6WN//ha+yyr==\n"
              "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n");
}

TEST(frame_head, reads_back_the_request_it_wrote) {
    const auto request = whole_request();
    const auto read = read_request({head_of(request_start(17, request).value()), "{}"});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->number, 17U);
    EXPECT_EQ(tie(read->request), tie(request));
}

TEST(frame_head, reads_back_the_reply_it_wrote) {
    const wire_reply reply{.status = 503,
                           .content_type = "application/json",
                           .signature = signature,
                           .retry_after = 7s,
                           .body = "[]"};
    const auto start = reply_start(std::numeric_limits<std::uint64_t>::max(), reply);
    const auto read = read_reply({head_of(start.value()), "[]"});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->number, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(tie(read->reply), tie(reply));
}

TEST(frame_head, leaves_out_what_is_empty_and_reads_it_as_empty) {
    const wire_reply bare{.status = 401, .content_type = ""};
    const auto head = head_of(reply_start(0, bare).value());
    EXPECT_EQ(head, "0 401\n");
    EXPECT_EQ(tie(read_reply({head, ""})->reply), tie(bare));
}

TEST(frame_head, rounds_a_retry_after_up_to_whole_seconds) {
    for (const auto& [exact, seconds] :
         {std::pair{0ms, "0"}, {1ms, "1"}, {1000ms, "1"}, {1001ms, "2"}, {-5s, "0"}}) {
        const auto head =
            head_of(reply_start(1, {.content_type = "", .retry_after = exact}).value());
        EXPECT_EQ(head, "1 200\nretry-after: " + std::string(seconds) + "\n");
    }
}

TEST(frame_head, ignores_headers_it_does_not_know) {
    const auto read = read_request({"1 POST /a\nx-new: 1\nrf-key: k\nx-new: 2\n", ""});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->request.signature.key, "k");
}

TEST(frame_head, refuses_requests_that_are_none) {
    for (const std::string_view head : {"",
                                        "\n",
                                        "1",
                                        "1 POST /a",
                                        "1 POST /a\n\n",
                                        "1 POST /a\r\n",
                                        " 1 POST /a\n",
                                        "1  POST /a\n",
                                        "1 POST  /a\n",
                                        "1 POST /a \n",
                                        "1 POST a\n",
                                        "1 POST \n",
                                        "1 POST\n",
                                        "1 POST /a b\n",
                                        "1 GET /a\n",
                                        "1 post /a\n",
                                        "-1 POST /a\n",
                                        "+1 POST /a\n",
                                        "01 POST /a\n",
                                        "1x POST /a\n",
                                        " POST /a\n",
                                        "18446744073709551616 POST /a\n",
                                        "1 POST /a\nrf-key\n",
                                        "1 POST /a\nrf-key:\n",
                                        "1 POST /a\nrf-key: \n",
                                        "1 POST /a\nrf-key:v\n",
                                        "1 POST /a\nrf-key:  v\n",
                                        "1 POST /a\nrf-key: v \n",
                                        "1 POST /a\nrf-key : v\n",
                                        "1 POST /a\nRf-key: v\n",
                                        "1 POST /a\n: v\n",
                                        "1 POST /a\nrf_key: v\n",
                                        "1 POST /a\n rf-key: v\n",
                                        "1 POST /a\nrf-key: v\r\n",
                                        "1 POST /a\nrf-key: a\tb\n",
                                        "1 POST /a\nrf-key: \xc3\xa4\n",
                                        "1 POST /a\nrf-key: a\x7f\n",
                                        "1 POST /a\nrf-key: v",
                                        "1 POST /a\nrf-key: v\nx",
                                        "1 POST /a\nrf-key: v\nrf-key: v\n",
                                        "1 POST /a\ncontent-type: a\ncontent-type: b\n",
                                        "1 200\n"}) {
        SCOPED_TRACE(head);
        const auto read = read_request({std::string(head), ""});
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), error_code::malformed_request);
    }
    using namespace std::string_literals;
    EXPECT_FALSE(read_request({"1 POST /a\nrf-key: a\0b\n"s, ""}));
    EXPECT_FALSE(read_request({"1 POST /a\0\n"s, ""}));
}

TEST(frame_head, refuses_replies_that_are_none) {
    for (const std::string_view head :
         {"", "1\n", "1 \n", "1 99\n", "1 600\n", "1 0200\n", "1 200 OK\n", "1 -200\n", "1 2x0\n",
          "x 200\n", "1 200", "1 65736\n", "1 200\nretry-after: soon\n", "1 200\nretry-after: -1\n",
          "1 200\nretry-after: 1.5\n", "1 200\nretry-after: 4294967296\n",
          "1 200\nretry-after: 1\nretry-after: 1\n", "1 POST /a\n"}) {
        SCOPED_TRACE(head);
        const auto read = read_reply({std::string(head), ""});
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), error_code::malformed_request);
    }
}

TEST(frame_head, quotes_nothing_of_what_it_refuses) {
    const auto read = read_request({"1 POST /a\nrf-key: se\tcret\n", ""});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().what(), Not(HasSubstr("se\tcret")));
}

TEST(frame_head, writes_no_value_that_would_be_another_line) {
    for (const std::string_view bad : {"a\nrf-key: x", "a\r", " a", "a ", "\xc3\xa4", "a\tb"}) {
        SCOPED_TRACE(bad);
        auto request = whole_request();
        request.signature.source = bad;
        const auto start = request_start(1, request);
        ASSERT_FALSE(start);
        EXPECT_EQ(start.error().code(), error_code::invalid_argument);
        EXPECT_THAT(start.error().what(), HasSubstr("rf-source"));
        EXPECT_FALSE(reply_start(1, {.content_type = std::string(bad)}));
    }
    for (const std::string_view bad : {"", "a", "/a b", "/a\n", "/\xc3\xa4"}) {
        SCOPED_TRACE(bad);
        auto request = whole_request();
        request.path = bad;
        EXPECT_FALSE(request_start(1, request));
    }
    EXPECT_FALSE(reply_start(1, {.status = 99}));
    EXPECT_FALSE(reply_start(1, {.status = 600}));
}

TEST(frame_head, writes_no_head_that_a_peer_would_refuse) {
    auto request = whole_request();
    request.traceparent = std::string(16 * 1024, 't');
    EXPECT_EQ(request_start(1, request).error().code(), error_code::invalid_argument);
}

TEST(frame_head, finds_the_number_of_a_head_that_is_wrong_otherwise) {
    EXPECT_EQ(number_of("12 nonsense"), 12U);
    EXPECT_EQ(number_of("0 "), 0U);
    for (const std::string_view none : {"", "12", "x 1", "-1 ", "007 x", "1\n 2"}) {
        SCOPED_TRACE(none);
        EXPECT_EQ(number_of(none), std::nullopt);
    }
}

}  // namespace
}  // namespace posthorn
