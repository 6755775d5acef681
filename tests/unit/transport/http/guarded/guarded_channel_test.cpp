#include "transport/http/guarded/guarded_channel.hpp"

#include <gmock/gmock.h>

#include "unit/transport/http/guarded/guarded_fixture.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class guarded_channel_test : public test::guarded_fixture {
protected:
    guarded_channel_test() { options_.limits.verbatim = true; }

    result<wire_reply> exchange(const std::string& url, wire_request request) {
        guarded_channel way(
            [this](guarded_request outgoing) { return client().send(std::move(outgoing)); },
            parse_http_url(url).value());
        auto begun = start(loop_.get_executor(), way.exchange(std::move(request)));
        pump([&] { return begun.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
        return begun.get();
    }
};

TEST_F(guarded_channel_test, carries_a_request_of_the_wire_and_its_answer_to_the_byte) {
    const auto& server = answering(
        "HTTP/1.1 429 Busy\r\nContent-Type: application/json\r\nRF-Hmac: abc=\r\n"
        "Rf-Key: k1\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\n{\xff\x01\n}");
    wire_request asked{.path = "/_rf/receive", .traceparent = "00-trace", .body = "{}"};
    asked.signature.scheme = "v2";
    asked.signature.source = "orders";
    asked.signature.hmac = "xyz=";
    const auto reply =
        exchange("http://127.0.0.1:" + std::to_string(server.port()) + "/gate/", asked);
    ASSERT_TRUE(reply) << reply.error().what();
    EXPECT_EQ(reply->status, 429);
    EXPECT_EQ(reply->content_type, "application/json");
    EXPECT_EQ(reply->signature.hmac, "abc=");
    EXPECT_EQ(reply->signature.key, "k1");
    EXPECT_EQ(reply->retry_after, std::chrono::seconds(7));
    EXPECT_EQ(reply->body, "{\xff\x01\n}");
    ASSERT_EQ(heard_.size(), 1U);
    EXPECT_THAT(heard_[0], StartsWith("POST /gate/_rf/receive HTTP/1.1\r\n"));
    for (const auto* const line :
         {"content-type: application/json\r\n", "rf-scheme: v2\r\n", "rf-source: orders\r\n",
          "rf-hmac: xyz=\r\n", "traceparent: 00-trace\r\n", "\r\n\r\n{}"})
        EXPECT_THAT(heard_[0], HasSubstr(line));
}

TEST_F(guarded_channel_test, keeps_all_of_an_answer_that_is_longer_than_what_people_are_shown) {
    const std::string body(20'000, 'x');
    const auto& server = answering("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + body);
    const auto reply = exchange("http://127.0.0.1:" + std::to_string(server.port()), {.path = "/"});
    ASSERT_TRUE(reply) << reply.error().what();
    EXPECT_EQ(reply->body, body);
}

TEST_F(guarded_channel_test, tells_what_the_guard_refused_from_what_did_not_answer) {
    const auto& server = answering(std::string(ok));
    const auto port = std::to_string(server.port());
    says("inner.example", {"127.0.0.2"});
    const auto refused = exchange("http://inner.example:" + port, {.path = "/"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
    EXPECT_THAT(refused.error().what(), HasSubstr("127.0.0.2 is refused"));
    EXPECT_EQ(server.connections(), 0U);
    const auto unknown = exchange("http://none.example:" + port, {.path = "/"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code(), error_code::unreachable);
}

TEST(guarded_channel, tells_each_trouble_by_a_code) {
    using enum guarded_trouble;
    const auto code = [](guarded_trouble what) {
        return take_answer({.trouble = what, .for_operator = "why"}).error().code();
    };
    for (const auto what : {refused, bad_request})
        EXPECT_EQ(code(what), error_code::invalid_argument);
    for (const auto what : {name, connect, proxy, tls, broken, malformed})
        EXPECT_EQ(code(what), error_code::unreachable);
    EXPECT_EQ(code(late), error_code::timed_out);
    EXPECT_EQ(code(overloaded), error_code::overloaded);
    EXPECT_EQ(code(cancelled), error_code::cancelled);
    EXPECT_EQ(take_answer({.trouble = refused, .for_operator = "why"}).error().what(),
              std::string("why"));
    const auto cut = take_answer({.status = 200, .body = "half", .body_cut = true});
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code(), error_code::unreachable);
}

}  // namespace
}  // namespace posthorn
