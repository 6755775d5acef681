#include <future>
#include <memory>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/channel.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "support/raw_http.hpp"
#include "support/test_environment.hpp"
#include "transport/http/server.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::raw_http;
using testing::HasSubstr;
using testing::Not;

std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string post(std::string_view headers, std::string_view body) {
    return "POST / HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

task<> start_server(http_server& server) {
    server.start();
    co_return;
}

/// A server on a thread of its own. `/wait` answers once released, `/throw` throws, everything else
/// answers with what it saw.
class http_server_test : public testing::Test {
protected:
    ~http_server_test() override { stop(0ms); }

    std::uint16_t listen(http_limits limits = {}) {
        auto opened = http_server::listen({"127.0.0.1", 0}, parts(limits));
        server_ = std::move(opened).value();
        start(threads_.executor(), start_server(*server_)).get();
        return server_->address().port;
    }

    void stop(std::chrono::milliseconds patience) {
        if (server_) start(threads_.executor(), server_->stop(patience)).get();
    }

    http_server_deps parts(http_limits limits = {}) {
        return {env_, [this](http_request request) { return answer(std::move(request)); }, limits};
    }

    task<http_response> answer(http_request request) {
        if (request.path == "/throw") throw std::runtime_error("secret");
        if (request.path == "/wait") {
            waiting_.set_value();
            if (!co_await release_.receive()) co_return http_response{599, {}, ""};
        }
        co_return http_response{200,
                                {{"X-Seen", request.method}},
                                request.path + "|" + request.query + "|" + request.body};
    }

    io_threads threads_{"test-io"};
    real_timer time_;
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_, .timer = &time_, .network = threads_.executor()}};
    std::promise<void> waiting_;
    channel<int> release_{1};
    std::unique_ptr<http_server> server_;
};

TEST_F(http_server_test, answers_several_requests_on_one_connection) {
    raw_http peer(listen());
    for (const std::string_view path : {"/a", "/b"}) {
        peer.send(get(std::string(path) + "?q=1"));
        const auto response = peer.receive();
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.body, std::string(path) + "|q=1|");
        EXPECT_THAT(response.head, HasSubstr("X-Seen: GET\r\n"));
    }
}

TEST_F(http_server_test, answers_requests_sent_ahead_in_order) {
    raw_http peer(listen());
    peer.send(get("/1") + get("/2") + get("/3"));
    EXPECT_EQ(peer.receive().body, "/1||");
    EXPECT_EQ(peer.receive().body, "/2||");
    EXPECT_EQ(peer.receive().body, "/3||");
}

TEST_F(http_server_test, closes_when_the_peer_asks_for_it) {
    raw_http peer(listen());
    peer.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(peer.receive().head, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, answers_http_1_0_without_host_and_closes) {
    raw_http peer(listen());
    peer.send("GET /old HTTP/1.0\r\n\r\n");
    EXPECT_EQ(peer.receive().body, "/old||");
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, answers_head_with_the_length_but_no_body) {
    raw_http peer(listen());
    peer.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/b"));
    const auto head = peer.receive(true);
    EXPECT_THAT(head.head, HasSubstr("Content-Length: 4\r\n"));
    EXPECT_EQ(peer.receive().body, "/b||");  // Nothing of the first stood in between.
}

TEST_F(http_server_test, reads_bodies_with_a_length_and_in_chunks) {
    raw_http peer(listen());
    peer.send(post("Content-Length: 5\r\n", "hello"));
    EXPECT_EQ(peer.receive().body, "/||hello");
    peer.send(post("Transfer-Encoding: chunked\r\n", "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"));
    EXPECT_EQ(peer.receive().body, "/||hello");
}

TEST_F(http_server_test, tells_a_peer_that_asks_first_to_go_on) {
    raw_http peer(listen());
    peer.send(post("Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
    EXPECT_EQ(peer.receive().status, 100);
    peer.send("ok");
    EXPECT_EQ(peer.receive().body, "/||ok");
}

TEST_F(http_server_test, takes_a_body_of_just_the_limit_and_refuses_one_byte_more) {
    const auto port = listen({.body_bytes_max = 10});
    EXPECT_EQ(test::ask(port, post("Content-Length: 10\r\n", "0123456789")).status, 200);
    EXPECT_EQ(test::ask(port, post("Content-Length: 11\r\n", "0123456789x")).status, 413);
    EXPECT_EQ(
        test::ask(port, post("Transfer-Encoding: chunked\r\n", "b\r\n0123456789x\r\n0\r\n\r\n"))
            .status,
        413);
}

TEST_F(http_server_test, refuses_headers_beyond_the_limit) {
    const auto port = listen({.header_bytes_max = 200});
    const auto with_header = [](std::size_t size) {
        return "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(size, 'a') + "\r\n\r\n";
    };
    EXPECT_EQ(test::ask(port, with_header(150)).status, 200);
    EXPECT_EQ(test::ask(port, with_header(201)).status, 431);
    EXPECT_EQ(test::ask(port, "GET /" + std::string(300, 'a')).status, 431);
}

TEST_F(http_server_test, delivers_a_refusal_to_a_peer_that_goes_on_sending) {
    raw_http peer(listen({.body_bytes_max = 10}));
    const std::size_t size = std::size_t{3} * 1024 * 1024;
    // Closed at once, the connection would be reset under the peer's hands.
    EXPECT_TRUE(peer.send(
        post("Content-Length: " + std::to_string(size) + "\r\n", std::string(size, 'x'))));
    EXPECT_EQ(peer.receive().status, 413);
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, answers_400_to_what_is_not_http_and_closes) {
    const auto port = listen();
    for (const std::string_view request :
         {"nonsense\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
          "GET / HTTP/1.1\r\n\r\n",                           // No Host.
          "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",     // Two of them.
          "GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",  //
          "GET nopath HTTP/1.1\r\nHost: x\r\n\r\n",           //
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
          // Two lengths, or a length and chunks, are how requests are smuggled past a proxy.
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"  // NOLINT: one request.
          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
        SCOPED_TRACE(request);
        raw_http peer(port);
        peer.send(request);
        const auto response = peer.receive();
        EXPECT_EQ(response.status, 400);
        EXPECT_THAT(response.body, HasSubstr(R"("error":"malformed_request")"));
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
}

TEST_F(http_server_test, hides_why_a_handler_failed_and_goes_on) {
    raw_http peer(listen());
    peer.send(get("/throw"));
    const auto response = peer.receive();
    EXPECT_EQ(response.status, 500);
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
    peer.send(get("/after"));
    EXPECT_EQ(peer.receive().body, "/after||");
}

TEST_F(http_server_test, closes_a_connection_that_does_not_finish_its_headers) {
    raw_http peer(listen({.header_timeout = 20ms, .idle_timeout = 1h}));
    peer.send("GET / HT");
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, closes_a_connection_that_says_nothing) {
    raw_http peer(listen({.header_timeout = 20ms, .idle_timeout = 1h}));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, closes_a_connection_that_is_idle_after_a_request) {
    raw_http peer(listen({.header_timeout = 1h, .idle_timeout = 50ms}));
    peer.send(get("/"));
    EXPECT_EQ(peer.receive().status, 200);
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_test, turns_connections_beyond_the_limit_away) {
    const auto port = listen({.connections_max = 1});
    raw_http first(port);
    first.send(get("/"));
    EXPECT_EQ(first.receive().status, 200);
    raw_http second(port);
    EXPECT_EQ(second.receive().status, 503);
    EXPECT_TRUE(second.is_closed_by_peer());
    first.send(get("/still"));
    EXPECT_EQ(first.receive().body, "/still||");
}

TEST_F(http_server_test, finishes_the_request_in_flight_when_it_stops) {
    const auto port = listen();
    raw_http busy(port);
    raw_http idle(port);
    idle.send(get("/"));
    EXPECT_EQ(idle.receive().status, 200);
    busy.send(get("/wait"));
    waiting_.get_future().wait();
    auto stopped = start(threads_.executor(), server_->stop(1h));
    EXPECT_TRUE(idle.is_closed_by_peer());
    EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout);
    EXPECT_THROW(raw_http{port}, std::system_error);  // It accepts nothing more.
    release_.try_send(1);
    const auto response = busy.receive();
    EXPECT_EQ(response.body, "/wait||");
    EXPECT_THAT(response.head, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(busy.is_closed_by_peer());
}

TEST_F(http_server_test, cuts_off_what_does_not_finish_in_time) {
    raw_http busy(listen());
    busy.send(get("/wait"));
    waiting_.get_future().wait();
    stop(10ms);  // Nothing releases the handler but its cancellation.
    EXPECT_TRUE(busy.is_closed_by_peer());
}

TEST_F(http_server_test, may_be_stopped_twice) {
    listen();
    stop(1s);
    stop(1s);
}

TEST_F(http_server_test, may_listen_without_ever_starting) {
    EXPECT_TRUE(http_server::listen({"127.0.0.1", 0}, parts()).has_value());
}

TEST_F(http_server_test, says_which_address_is_taken_and_what_to_do) {
    const auto port = listen();
    const auto second = http_server::listen({"127.0.0.1", port}, parts());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), error_code::address_unavailable);
    EXPECT_THAT(second.error().what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
    EXPECT_THAT(second.error().what(), HasSubstr("choose another port"));
}

TEST_F(http_server_test, says_that_an_address_is_not_of_this_machine) {
    const auto server = http_server::listen({"192.0.2.1", 0}, parts());
    ASSERT_FALSE(server.has_value());
    EXPECT_EQ(server.error().code(), error_code::address_unavailable);
    EXPECT_THAT(server.error().what(), HasSubstr("an address of this machine"));
}

}  // namespace
}  // namespace posthorn
