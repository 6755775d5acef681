#include "transport/http/http_client.hpp"

#include <future>

#include <gmock/gmock.h>

#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using test::raw_http;
using test::raw_listener;
using testing::HasSubstr;
using testing::StartsWith;

http_request request_of(std::string method, std::string body = "") {
    http_request request;
    request.method = std::move(method);
    request.body = std::move(body);
    return request;
}

// Answers with what it saw.
task<http_response> echo(http_request request) {
    co_return http_response{
        202,
        {{"X-Peer", request.peer}},
        request.method + " " + request.path + "?" + request.query + " " + request.body};
}

class http_client_test : public test::http_fixture {
protected:
    ~http_client_test() override {
        client_.reset();
        finish();
    }

    std::future<result<http_response>> send(std::string to, http_request request) {
        return start(threads_.executor(), client_->send(std::move(to), std::move(request)));
    }

    std::unique_ptr<http_client> client_ = std::make_unique<http_client>(client_parts());
};

TEST_F(http_client_test, brings_back_status_headers_and_body) {
    const auto port = listen(echo);
    const auto reply = send(url(port) + "/a/b?c=d", request_of("PUT", "body")).get().value();
    EXPECT_EQ(reply.status, 202);
    EXPECT_EQ(reply.body, "PUT /a/b?c=d body");
    EXPECT_EQ(reply.headers.find("x-peer"), "127.0.0.1");
}

TEST_F(http_client_test, asks_for_the_root_where_the_url_has_no_path) {
    const auto port = listen(echo);
    EXPECT_EQ(send(url(port), request_of("GET")).get()->body, "GET /? ");
}

TEST_F(http_client_test, expects_no_body_after_head) {
    const auto port = listen(echo);
    const auto head = send(url(port), request_of("HEAD")).get().value();
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(head.headers.find("content-length"), "8");
    EXPECT_EQ(send(url(port), request_of("GET")).get()->body, "GET /? ");
}

TEST_F(http_client_test, sends_headers_as_given_and_no_second_length) {
    raw_listener peer;
    auto request = request_of("POST", "xy");
    request.headers = {
        {"Authorization", "Bearer t"}, {"Transfer-Encoding", "chunked"}, {"Content-Length", "9"}};
    auto pending = send(url(peer.port()), std::move(request));
    const auto connection = peer.accept();
    const auto seen = connection->receive();
    EXPECT_THAT(seen.head, StartsWith("POST / HTTP/1.1\r\n"));
    EXPECT_THAT(seen.head, HasSubstr("Authorization: Bearer t\r\n"));
    EXPECT_THAT(seen.head, HasSubstr("Content-Length: 2\r\n"));
    EXPECT_THAT(seen.head, testing::Not(HasSubstr("chunked")));
    connection->send("HTTP/1.1 204 No Content\r\n\r\n");
    EXPECT_EQ(pending.get()->status, 204);
}

TEST_F(http_client_test, gives_up_on_a_reply_in_which_the_head_of_a_chunk_does_not_end) {
    raw_listener peer;
    auto pending = send(url(peer.port()), request_of("GET"));
    const auto connection = peer.accept();
    (void)connection->receive();
    connection->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name=");
    const std::string more(std::size_t{64} * 1024, 'a');
    for (int i = 0; i < 3; ++i) connection->send(more);
    const auto reply = pending.get();
    ASSERT_FALSE(reply.has_value());
    EXPECT_THAT(reply.error().what(), HasSubstr("answers with more than is taken"));
}

TEST_F(http_client_test, refuses_headers_that_would_write_lines_of_their_own) {
    for (const http_headers::field& field :
         {http_headers::field{"X", "a\r\nEvil: b"}, {"X\r\nEvil", "b"}, {"X Y", "b"}, {"", "b"}}) {
        auto request = request_of("GET");
        request.headers.add(field.first, field.second);
        const auto refused = send("http://127.0.0.1:1", std::move(request)).get();
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
    }
    EXPECT_EQ(send("http://127.0.0.1:1", request_of("GET /x")).get().error().code(),
              error_code::invalid_argument);
}

TEST_F(http_client_test, does_not_send_a_post_again_that_may_have_been_seen) {
    raw_listener peer;
    for (const std::string method : {"POST", "GET"}) {
        auto first = send(url(peer.port()), request_of("GET"));
        auto connection = peer.accept();
        EXPECT_THAT(connection->receive().head, StartsWith("GET"));
        connection->send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        EXPECT_TRUE(first.get());
        auto second = send(url(peer.port()), request_of(method));
        EXPECT_THAT(connection->receive().head, StartsWith(method));
        connection.reset();
        if (method == "GET") {
            connection = peer.accept();
            EXPECT_THAT(connection->receive().head, StartsWith(method));
            connection->send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
        EXPECT_EQ(second.get().has_value(), method == "GET");
    }
}

TEST_F(http_client_test, takes_a_reply_that_ends_with_its_connection) {
    raw_listener peer;
    auto pending = send(url(peer.port()), request_of("GET"));
    auto connection = peer.accept();
    EXPECT_THAT(connection->receive().head, StartsWith("GET"));
    connection->send("HTTP/1.0 200 OK\r\n\r\nold");
    connection.reset();
    EXPECT_EQ(pending.get()->body, "old");
}

TEST_F(http_client_test, refuses_what_is_no_url) {
    EXPECT_EQ(send("nonsense", request_of("GET")).get().error().code(),
              error_code::invalid_argument);
}

TEST_F(http_client_test, sends_nothing_once_stopped) {
    const auto stop = [](http_client& client) -> task<> {
        client.stop();
        co_return;
    };
    run(stop(*client_));
    EXPECT_EQ(send("http://127.0.0.1:1", request_of("GET")).get().error().code(),
              error_code::closed);
}

}  // namespace
}  // namespace posthorn
