#include "transport/http/http_channel.hpp"

#include <array>
#include <future>

#include <gmock/gmock.h>

#include "base/async/channel.hpp"
#include "transport/http/wire_headers.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::raw_http;
using test::raw_listener;
using testing::HasSubstr;
using testing::StartsWith;

using reply = result<wire_reply>;

wire_request request_of(std::string body) {
    return {.path = std::string(receive_path), .body = std::move(body)};
}

std::string answer(std::string_view body, std::string_view headers = "") {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(headers) + "\r\n" + std::string(body);
}

class http_channel_test : public test::http_fixture {
protected:
    ~http_channel_test() override {
        channel_.reset();
        finish();
    }

    void open(std::string_view url, http_channel_options options = {}) {
        channel_ = http_channel::open(client_parts(), url, options).value();
    }
    void open_to_peer(http_channel_options options = {}) { open(url(peer_.port()), options); }

    std::future<reply> send(std::string body) {
        return start(threads_.executor(), channel_->exchange(request_of(std::move(body))));
    }

    // A connection that the peer has been seen to keep.
    std::unique_ptr<raw_http> keep_one() {
        auto first = send("first");
        auto connection = peer_.accept();
        EXPECT_EQ(connection->receive().body, "first");
        connection->send(answer("1st"));
        EXPECT_EQ(first.get()->body, "1st");
        return connection;
    }

    static error_code code_of(std::future<reply>& outcome) {
        const auto seen = outcome.get();
        return seen ? error_code{} : seen.error().code();
    }

    raw_listener peer_;
    std::unique_ptr<http_channel> channel_;
};

TEST_F(http_channel_test, carries_every_field_of_a_request_and_of_its_reply) {
    open_to_peer();
    const signature_headers signature{"v2",
                                      "key-1",
                                      "orders",
                                      "stock",
                                      "2026-02-14T12:00:00.000Z",
                                      "bFY6WN//ha+yyrgcfRihPA6si4sk2cVuLPX5xhGsRQs="};
    wire_request request = request_of("{}");
    request.signature = signature;
    request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    auto pending = start(threads_.executor(), channel_->exchange(request));
    const auto connection = peer_.accept();
    const auto seen = connection->receive();
    EXPECT_EQ(seen.body, "{}");
    for (const std::string_view line :
         {"POST /_rf/receive HTTP/1.1\r\n", "content-type: application/json\r\n",
          "rf-scheme: v2\r\n", "rf-key: key-1\r\n", "rf-source: orders\r\n",
          "rf-destination: stock\r\n", "rf-timestamp: 2026-02-14T12:00:00.000Z\r\n",
          "rf-hmac: bFY6WN//ha+yyrgcfRihPA6si4sk2cVuLPX5xhGsRQs=\r\n",
          "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"})
        EXPECT_THAT(seen.head, HasSubstr(line));
    EXPECT_THAT(seen.head, HasSubstr("Host: 127.0.0.1:" + std::to_string(peer_.port()) + "\r\n"));
    connection->send(
        "HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\nRetry-After: 7\r\nRF-Scheme: v2\r\n"
        "rf-key: k\r\nrf-source: s\r\nrf-destination: d\r\nrf-timestamp: t\r\nrf-hmac: h\r\n"
        "Content-Length: 4\r\n\r\nbusy");
    const auto reply = pending.get().value();
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.content_type, "text/plain");
    EXPECT_EQ(reply.retry_after, 7s);
    EXPECT_EQ(reply.body, "busy");
    EXPECT_EQ(reply.signature, (signature_headers{"v2", "k", "s", "d", "t", "h"}));
}

TEST_F(http_channel_test, puts_the_path_of_its_url_before_every_path) {
    open(url(peer_.port()) + "/gate/orders/");
    auto pending = send("x");
    const auto connection = peer_.accept();
    EXPECT_THAT(connection->receive().head,
                StartsWith("POST /gate/orders/_rf/receive HTTP/1.1\r\n"));
    connection->send(answer("y"));
    EXPECT_EQ(pending.get()->body, "y");
}

TEST_F(http_channel_test, finds_a_host_by_its_name) {
    open("http://localhost:" + std::to_string(peer_.port()));
    auto pending = send("x");
    const auto connection = peer_.accept();
    EXPECT_THAT(connection->receive().head, HasSubstr("Host: localhost:"));
    connection->send(answer("y"));
    EXPECT_EQ(pending.get()->body, "y");
}

TEST_F(http_channel_test, keeps_its_connection_for_the_next_request) {
    open_to_peer();
    const auto connection = keep_one();
    auto second = send("second");
    EXPECT_EQ(connection->receive().body, "second");
    connection->send(answer("2nd"));
    EXPECT_EQ(second.get()->body, "2nd");
    EXPECT_FALSE(peer_.has_caller());
}

TEST_F(http_channel_test, sends_ahead_as_many_requests_as_it_may) {
    open_to_peer({.pool = {.connections_max = 1, .pipeline_max = 3}});
    const auto connection = keep_one();
    std::array pending{send("a"), send("b"), send("c"), send("d")};
    for (const std::string_view body : {"a", "b", "c"}) EXPECT_EQ(connection->receive().body, body);
    connection->send(answer("A") + answer("B"));
    EXPECT_EQ(pending[0].get()->body, "A");
    EXPECT_EQ(pending[1].get()->body, "B");
    EXPECT_EQ(connection->receive().body, "d");  // There was no room for it before.
    connection->send(answer("C") + answer("D"));
    EXPECT_EQ(pending[2].get()->body, "C");
    EXPECT_EQ(pending[3].get()->body, "D");
    EXPECT_FALSE(peer_.has_caller());
}

TEST_F(http_channel_test, fills_a_connection_as_soon_as_the_peer_is_seen_to_keep_it) {
    open_to_peer({.pool = {.connections_max = 1, .pipeline_max = 3}});
    std::array pending{send("a"), send("b"), send("c"), send("d")};
    const auto connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "a");
    connection->send(answer("A"));
    for (const std::string_view body : {"b", "c", "d"}) EXPECT_EQ(connection->receive().body, body);
    connection->send(answer("B") + answer("C") + answer("D"));
    for (auto& each : pending) EXPECT_TRUE(each.get());
}

TEST_F(http_channel_test, opens_connections_up_to_the_limit_before_it_sends_ahead) {
    open_to_peer({.pool = {.connections_max = 2, .pipeline_max = 2}});
    const auto first = keep_one();
    auto a = send("a");
    EXPECT_EQ(first->receive().body, "a");
    auto b = send("b");
    const auto second = peer_.accept();
    EXPECT_EQ(second->receive().body, "b");
    auto c = send("c");
    EXPECT_EQ(first->receive().body, "c");
    EXPECT_FALSE(peer_.has_caller());
    first->send(answer("A") + answer("C"));
    second->send(answer("B"));
    EXPECT_EQ(a.get()->body, "A");
    EXPECT_EQ(b.get()->body, "B");
    EXPECT_EQ(c.get()->body, "C");
}

TEST_F(http_channel_test, gives_up_every_request_of_a_connection_that_breaks) {
    open_to_peer({.pool = {.connections_max = 1}});
    auto connection = keep_one();
    std::array pending{send("a"), send("b"), send("c")};
    for (const std::string_view body : {"a", "b", "c"}) EXPECT_EQ(connection->receive().body, body);
    connection->send(answer("A") + "HTTP/1.1 2");
    EXPECT_EQ(pending[0].get()->body, "A");
    connection.reset();
    EXPECT_EQ(code_of(pending[1]), error_code::unreachable);
    EXPECT_EQ(code_of(pending[2]), error_code::unreachable);
    EXPECT_FALSE(peer_.has_caller());
}

TEST_F(http_channel_test, sends_again_what_met_a_kept_connection_that_was_closed) {
    open_to_peer({.pool = {.connections_max = 1}});
    auto connection = keep_one();
    std::array pending{send("a"), send("b")};
    EXPECT_EQ(connection->receive().body, "a");
    EXPECT_EQ(connection->receive().body, "b");
    connection.reset();
    connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "a");
    connection->send(answer("A"));
    EXPECT_EQ(connection->receive().body, "b");
    connection->send(answer("B"));
    EXPECT_EQ(pending[0].get()->body, "A");
    EXPECT_EQ(pending[1].get()->body, "B");
}

TEST_F(http_channel_test, sends_again_what_was_sent_after_a_reply_that_was_the_last) {
    open_to_peer({.pool = {.connections_max = 1}});
    auto connection = keep_one();
    std::array pending{send("a"), send("b")};
    EXPECT_EQ(connection->receive().body, "a");
    EXPECT_EQ(connection->receive().body, "b");
    connection->send(answer("A", "Connection: close\r\n"));
    EXPECT_EQ(pending[0].get()->body, "A");
    connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "b");
    connection->send(answer("B"));
    EXPECT_EQ(pending[1].get()->body, "B");
}

TEST_F(http_channel_test, opens_a_new_connection_where_the_peer_closed_an_idle_one) {
    open_to_peer();
    keep_one().reset();
    auto second = send("second");
    const auto connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "second");
    connection->send(answer("2nd"));
    EXPECT_EQ(second.get()->body, "2nd");
}

TEST_F(http_channel_test, does_not_send_again_what_a_new_connection_swallowed) {
    open_to_peer();
    auto pending = send("x");
    auto connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "x");
    connection.reset();
    EXPECT_EQ(code_of(pending), error_code::unreachable);
    EXPECT_FALSE(peer_.has_caller());
}

TEST_F(http_channel_test, says_whom_it_cannot_reach) {
    std::uint16_t port = 0;
    {
        const raw_listener gone;
        port = gone.port();
    }
    open(url(port));
    const auto refused = send("x").get();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::unreachable);
    EXPECT_THAT(refused.error().what(), HasSubstr(url(port)));
}

TEST_F(http_channel_test, says_that_a_name_cannot_be_resolved) {
    open("http://" + std::string(70, 'a') + ":80");  // Too long a label to be asked for.
    const auto lost = send("x").get();
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code(), error_code::unreachable);
    EXPECT_THAT(lost.error().what(), HasSubstr("cannot be resolved"));
}

/// Time passes when the test says so.
class held_timer final : public timer {
public:
    task<result<>> sleep_for(std::chrono::nanoseconds delay) override {
        slept = delay;
        auto woken = co_await release.receive();
        if (!woken) co_return std::unexpected(woken.error());
        co_return result<>{};
    }

    channel<int> release{1};
    std::chrono::nanoseconds slept{};
};

TEST_F(http_channel_test, gives_up_a_peer_that_does_not_answer_in_time) {
    held_timer time;
    auto channel = http_channel::open({threads_.executor(), tasks_, time}, url(peer_.port()),
                                      {.call = {.exchange_timeout = 30s}})
                       .value();
    auto pending = start(threads_.executor(), channel->exchange(request_of("x")));
    const auto connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "x");
    time.release.try_send(1);
    const auto late = pending.get();
    ASSERT_FALSE(late);
    EXPECT_EQ(time.slept, 30s);
    EXPECT_EQ(late.error().code(), error_code::unreachable);
    EXPECT_THAT(late.error().what(), HasSubstr("within 30000 ms"));
    EXPECT_TRUE(connection->is_closed_by_peer());
}

TEST_F(http_channel_test, closes_the_connection_of_a_request_that_is_cancelled) {
    open_to_peer({.pool = {.connections_max = 1}});
    const auto connection = keep_one();
    std::promise<reply> outcome;
    const auto keep_outcome = [](http_channel& channel, std::promise<reply>& to) -> task<> {
        to.set_value(co_await channel.exchange(request_of("x")));
    };
    task_group asking(threads_.executor());
    const auto spawn = [](task_group& in, task<> body) -> task<> {
        in.spawn(std::move(body));
        co_return;
    };
    const auto cancel = [](task_group& in) -> task<> {
        in.cancel();
        co_await in.join();
    };
    run(spawn(asking, keep_outcome(*channel_, outcome)));
    EXPECT_EQ(connection->receive().body, "x");
    auto behind = send("y");
    EXPECT_EQ(connection->receive().body, "y");
    run(cancel(asking));
    auto cancelled = outcome.get_future();
    EXPECT_EQ(code_of(cancelled), error_code::cancelled);
    EXPECT_EQ(code_of(behind), error_code::unreachable);
    EXPECT_TRUE(connection->is_closed_by_peer());
}

TEST_F(http_channel_test, takes_a_reply_of_just_the_limit_and_none_beyond) {
    open_to_peer({.call = {.reply_bytes_max = 10}});
    auto fits = send("x");
    const auto connection = peer_.accept();
    EXPECT_NE(connection->receive().body, "");
    connection->send(answer("0123456789"));
    EXPECT_EQ(fits.get()->body, "0123456789");
    auto exceeds = send("y");
    EXPECT_NE(connection->receive().body, "");
    connection->send(answer("0123456789x"));
    EXPECT_EQ(code_of(exceeds), error_code::unreachable);
}

TEST_F(http_channel_test, waits_for_the_reply_behind_one_that_says_only_to_go_on) {
    open_to_peer();
    auto pending = send("x");
    const auto connection = peer_.accept();
    EXPECT_NE(connection->receive().body, "");
    connection->send("HTTP/1.1 100 Continue\r\n\r\n" + answer("y"));
    EXPECT_EQ(pending.get()->body, "y");
}

TEST_F(http_channel_test, closes_a_connection_on_which_the_peer_speaks_unasked) {
    open_to_peer();
    const auto connection = keep_one();
    connection->send(answer("nobody asked"));
    EXPECT_TRUE(connection->is_closed_by_peer());
}

TEST_F(http_channel_test, fails_what_is_under_way_when_it_is_stopped) {
    open_to_peer({.pool = {.connections_max = 1, .pipeline_max = 1}});
    auto sent = send("x");
    const auto connection = peer_.accept();
    EXPECT_EQ(connection->receive().body, "x");
    auto waiting = send("y");
    const auto stop = [](http_channel& channel) -> task<> {
        channel.stop();
        channel.stop();
        co_return;
    };
    run(stop(*channel_));
    EXPECT_EQ(code_of(sent), error_code::unreachable);
    EXPECT_EQ(code_of(waiting), error_code::closed);
    auto later = send("z");
    EXPECT_EQ(code_of(later), error_code::closed);
    EXPECT_TRUE(connection->is_closed_by_peer());
}

TEST_F(http_channel_test, refuses_a_url_with_a_query_or_of_another_scheme) {
    for (const std::string_view text : {"http://host?x", "ftp://host", "host:80"}) {
        const auto refused = http_channel::open(client_parts(), text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
    }
}

TEST(retry_after, is_read_in_seconds_only) {
    EXPECT_EQ(parse_retry_after("0"), 0ms);
    EXPECT_EQ(parse_retry_after("120"), 2min);
    EXPECT_EQ(parse_retry_after("99999999999999999999999"), std::chrono::hours(100 * 365 * 24));
    for (const std::string_view text : {"", "-1", "1.5", "1 ", "Wed, 21 Oct 2026 07:28:00 GMT"})
        EXPECT_EQ(parse_retry_after(text), std::nullopt) << text;
}

TEST(retry_after, is_written_in_whole_seconds_rounded_up) {
    EXPECT_EQ(format_retry_after(0ms), "0");
    EXPECT_EQ(format_retry_after(1ms), "1");
    EXPECT_EQ(format_retry_after(1000ms), "1");
    EXPECT_EQ(format_retry_after(1001ms), "2");
}

}  // namespace
}  // namespace posthorn
