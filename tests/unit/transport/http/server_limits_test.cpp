#include <vector>

#include <gmock/gmock.h>

#include "transport/http/server.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::raw_http;
using testing::HasSubstr;

constexpr std::string_view good = "GET /good HTTP/1.1\r\nHost: x\r\n\r\n";

task<http_response> answer(http_request request) {
    co_return http_response{200, {}, request.path + " " + std::to_string(request.body.size())};
}

using http_server_limits = test::http_fixture;

TEST_F(http_server_limits, refuses_a_body_of_4_gib_without_reading_it) {
    raw_http peer(listen(answer));
    peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4294967296\r\n\r\n");
    const auto refusal = peer.receive();
    EXPECT_EQ(refusal.status, 413);
    EXPECT_THAT(refusal.body, HasSubstr("body_too_large"));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_limits, takes_a_payload_of_1_mib_with_64_kib_around_it) {
    const auto port = listen(answer);
    const std::size_t limit = std::size_t{1088} * 1024;
    const auto post = [&](std::size_t size) {
        return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) +
               "\r\n\r\n" + std::string(size, 'x');
    };
    EXPECT_EQ(test::ask(port, post(limit)).body, "/ " + std::to_string(limit));
    EXPECT_EQ(test::ask(port, post(limit + 1)).status, 413);
}

// Two that agree are still two, and a list of lengths is no length.
TEST_F(http_server_limits, refuses_two_lengths_for_one_body) {
    const auto port = listen(answer);
    for (const std::string lengths :
         {"Content-Length: 5\r\nContent-Length: 5", "Content-Length: 1\r\nContent-Length: 2",
          "Content-Length: 1, 2", "Content-Length: 3\r\nTransfer-Encoding: chunked",
          "Transfer-Encoding: chunked\r\nContent-Length: 3", "Transfer-Encoding: gzip",
          "Transfer-Encoding: identity\r\nContent-Length: 3", "Transfer-Encoding: gzip, chunked",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"}) {
        SCOPED_TRACE(lengths);
        raw_http peer(port);
        peer.send("POST / HTTP/1.1\r\nHost: x\r\n" + lengths + "\r\n\r\n0\r\n\r\n");
        EXPECT_EQ(peer.receive().status, 400);
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
}

// What a proxy takes for a body must not be a second request.
TEST_F(http_server_limits, takes_nothing_for_a_request_behind_a_body_of_unknown_length) {
    raw_http peer(listen(answer));
    peer.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n" + std::string(good));
    EXPECT_EQ(peer.receive().status, 400);
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_server_limits, refuse_chunks_whose_heads_or_trailers_do_not_end) {
    const auto port = listen(answer);
    for (const std::string endless : {"5;name=", "0\r\nTrailer: "}) {
        SCOPED_TRACE(endless);
        raw_http peer(port);
        peer.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + endless);
        const std::string more(std::size_t{64} * 1024, 'a');
        for (int i = 0; i < 3; ++i) peer.send(more);
        EXPECT_EQ(peer.receive().status, 431);
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
}

TEST_F(http_server_limits, answers_others_however_many_connections_are_slow) {
    const auto port = listen(answer, {.connections_max = 100, .header_timeout = 1h});
    std::vector<std::unique_ptr<raw_http>> slow;
    for (int i = 0; i < 200; ++i) {
        slow.push_back(std::make_unique<raw_http>(port));
        slow.back()->send(i % 2 == 0 ? "GET / HT" : "");
    }
    EXPECT_EQ(test::ask(port, good).body, "/good 0");
    for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(slow[i]->is_closed_by_peer()) << i;
    slow.back()->send(good);
    EXPECT_EQ(slow.back()->receive().body, "/good 0");  // The youngest have stayed.
}

TEST_F(http_server_limits, spares_who_has_sent_headers_before_who_has_not) {
    const auto port = listen(answer, {.connections_max = 2, .header_timeout = 1h});
    raw_http older(port);
    older.send(
        "POST /older HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(older.receive().status, 100);
    raw_http younger(port);
    EXPECT_EQ(test::ask(port, good).status, 200);
    EXPECT_TRUE(younger.is_closed_by_peer());
    older.send("ab");
    EXPECT_EQ(older.receive().body, "/older 2");
}

TEST_F(http_server_limits, lets_a_body_that_does_not_come_give_way_in_the_end) {
    const auto port = listen(answer, {.connections_max = 1, .idle_timeout = 1h});
    raw_http slow(port);
    slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(slow.receive().status, 100);
    EXPECT_EQ(test::ask(port, good).status, 200);
    EXPECT_TRUE(slow.is_closed_by_peer());
}

}  // namespace
}  // namespace posthorn
