#include "transport/unix/unix_server.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/async/channel.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "support/eventually.hpp"
#include "support/raw_unix.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::frame_bytes;
using test::raw_frame;
using test::raw_unix;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string post(int number, std::string_view path, std::string_view body = "") {
    return frame_bytes(std::to_string(number) + " POST " + std::string(path) + "\n", body);
}

std::string ok(int number) {
    return std::to_string(number) + " 200\ncontent-type: application/json\n";
}

task<> start_server(unix_server& server) {
    server.start();
    co_return;
}

/// A server on a thread of its own. `/wait` answers once released, `/throw` throws, `/unwritable`
/// answers what no frame can hold, everything else answers with what it saw.
class unix_server_test : public testing::Test {
protected:
    ~unix_server_test() override { stop(0ms); }

    std::string listen(http_limits limits = {}, std::size_t requests_max = 64) {
        server_ = unix_server::listen(path_, parts(limits, requests_max)).value();
        start(threads_.executor(), start_server(*server_)).get();
        return path_;
    }

    void stop(std::chrono::milliseconds patience) {
        if (server_) start(threads_.executor(), server_->stop(patience)).get();
    }

    unix_server_deps parts(http_limits limits = {}, std::size_t requests_max = 64) {
        return {env_, [this](wire_request request) { return answer(std::move(request)); }, limits,
                requests_max};
    }

    task<wire_reply> answer(wire_request request) {
        ++seen_;
        if (request.path == "/throw") throw std::runtime_error("secret");
        if (request.path == "/unwritable") co_return wire_reply{.content_type = "a\nb"};
        if (request.path == "/large") co_return wire_reply{.body = std::string(1 << 20, 'x')};
        if (request.path == "/wait" && !co_await release_.receive())
            co_return wire_reply{.status = 599};
        co_return wire_reply{.body = request.path + "|" + request.body};
    }

    /// Waits until the server has handed on so many requests.
    [[nodiscard]] bool has_seen(int count) {
        return test::eventually([&] { return seen_ == count; });
    }

    test::temporary_directory directory_;
    std::string path_ = directory_.file("s/stock.sock");
    io_threads threads_{"test-io"};
    real_timer time_;
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_, .timer = &time_, .network = threads_.executor()}};
    std::atomic<int> seen_ = 0;
    channel<int> release_{1000};
    std::unique_ptr<unix_server> server_;
};

TEST_F(unix_server_test, answers_requests_on_one_connection) {
    raw_unix peer(listen());
    peer.send(post(1, "/a", "one"));
    EXPECT_EQ(peer.receive(), (raw_frame{ok(1), "/a|one"}));
    peer.send(post(2, "/b"));
    EXPECT_EQ(peer.receive(), (raw_frame{ok(2), "/b|"}));
}

TEST_F(unix_server_test, answers_each_when_it_is_done_whatever_came_first) {
    raw_unix peer(listen());
    peer.send(post(1, "/wait") + post(2, "/quick"));
    EXPECT_EQ(peer.receive().head, ok(2));
    release_.try_send(1);
    EXPECT_EQ(peer.receive().head, ok(1));
}

TEST_F(unix_server_test, reads_no_more_while_as_many_are_at_work_as_it_allows) {
    raw_unix peer(listen({}, 2));
    for (int number = 1; number <= 5; ++number) peer.send(post(number, "/wait"));
    ASSERT_TRUE(has_seen(2));
    // Whatever it were to read ahead would have to hold all of this.
    std::string much;
    for (int number = 6; number < 60; ++number)
        much += post(number, "/wait", std::string(100'000, 'x'));
    EXPECT_LT(peer.send_some(much), std::size_t{1'000'000});
    EXPECT_EQ(seen_, 2);
    release_.try_send(1);
    EXPECT_EQ(peer.receive().body, "/wait|");
    ASSERT_TRUE(has_seen(3));
    for (int i = 0; i < 100; ++i) release_.try_send(1);
}

TEST_F(unix_server_test, counts_a_request_until_its_answer_is_taken) {
    raw_unix peer(listen({}, 2));
    for (int number = 1; number <= 6; ++number) peer.send(post(number, "/large"));
    ASSERT_TRUE(has_seen(2));
    EXPECT_EQ(peer.receive().body.size(), std::size_t{1} << 20);
    for (int number = 2; number <= 6; ++number) (void)peer.receive();
    EXPECT_EQ(seen_, 6);
}

TEST_F(unix_server_test, hides_why_a_handler_failed_and_goes_on) {
    raw_unix peer(listen());
    peer.send(post(1, "/throw"));
    const auto answer = peer.receive();
    EXPECT_THAT(answer.head, StartsWith("1 500\n"));
    EXPECT_THAT(answer.body, Not(HasSubstr("secret")));
    peer.send(post(2, "/unwritable"));
    EXPECT_THAT(peer.receive().head, StartsWith("2 500\n"));
    peer.send(post(3, "/after"));
    EXPECT_EQ(peer.receive().body, "/after|");
}

TEST_F(unix_server_test, takes_a_body_of_just_the_limit_and_refuses_one_byte_more) {
    listen({.body_bytes_max = 10});
    raw_unix peer(path_);
    peer.send(post(1, "/a", "0123456789"));
    EXPECT_EQ(peer.receive().body, "/a|0123456789");
    peer.send(post(2, "/a", "0123456789x"));
    const auto refusal = peer.receive();
    EXPECT_THAT(refusal.head, StartsWith("2 413\n"));
    EXPECT_THAT(refusal.body, HasSubstr("body_too_large"));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, refuses_a_head_beyond_the_limit) {
    raw_unix peer(listen({.header_bytes_max = 100}));
    peer.send(post(1, "/" + std::string(90, 'a')));
    EXPECT_THAT(peer.receive().head, StartsWith("1 200\n"));
    peer.send(post(2, "/" + std::string(200, 'a')));
    const auto refusal = peer.receive();
    EXPECT_THAT(refusal.head, StartsWith("2 431\n"));
    EXPECT_THAT(refusal.body, HasSubstr("headers_too_large"));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, delivers_a_refusal_to_a_peer_that_goes_on_sending) {
    raw_unix peer(listen({.body_bytes_max = 10}));
    // Closed at once, the connection would break under the peer's hands.
    EXPECT_TRUE(peer.send(post(1, "/a", std::string(std::size_t{3} * 1024 * 1024, 'x'))));
    EXPECT_THAT(peer.receive().head, StartsWith("1 413\n"));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, answers_400_to_a_head_that_is_none_and_closes) {
    listen();
    for (const std::string_view head : {"7 GET /\n", "7 POST /", "7 POST /\nA: b\n", "7 x"}) {
        SCOPED_TRACE(head);
        raw_unix peer(path_);
        peer.send(frame_bytes(head, "") + post(8, "/after"));
        const auto refusal = peer.receive();
        EXPECT_THAT(refusal.head, StartsWith("7 400\n"));
        EXPECT_THAT(refusal.body, HasSubstr("malformed_request"));
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
    EXPECT_EQ(seen_, 0);
}

TEST_F(unix_server_test, closes_without_a_word_where_nobody_can_be_answered) {
    listen();
    for (const std::string& bytes :
         {frame_bytes("", "body"), frame_bytes("POST /\n", ""), frame_bytes("x POST /\n", ""),
          "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(64, ' ')}) {
        SCOPED_TRACE(bytes);
        raw_unix peer(path_);
        peer.send(bytes);
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
}

TEST_F(unix_server_test, ends_a_connection_that_uses_a_number_twice_and_answers_the_first) {
    raw_unix peer(listen());
    peer.send(post(1, "/wait") + post(1, "/other"));
    ASSERT_TRUE(has_seen(1));
    release_.try_send(1);
    EXPECT_EQ(peer.receive(), (raw_frame{ok(1), "/wait|"}));
    EXPECT_TRUE(peer.is_closed_by_peer());
    EXPECT_EQ(seen_, 1);
}

TEST_F(unix_server_test, answers_what_is_at_work_when_a_later_frame_breaks_the_rules) {
    raw_unix peer(listen());
    peer.send(post(1, "/wait") + frame_bytes("2 nonsense\n", ""));
    EXPECT_THAT(peer.receive().head, StartsWith("2 400\n"));
    release_.try_send(1);
    EXPECT_EQ(peer.receive().head, ok(1));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, answers_a_peer_that_has_ended_its_sending) {
    raw_unix peer(listen());
    peer.send(post(1, "/wait"));
    peer.end_sending();
    ASSERT_TRUE(has_seen(1));
    release_.try_send(1);
    EXPECT_EQ(peer.receive().head, ok(1));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, survives_a_peer_that_is_gone_before_its_answer) {
    listen();
    {
        raw_unix peer(path_);
        peer.send(post(1, "/wait") + post(2, "/wait"));
        ASSERT_TRUE(has_seen(2));
    }
    release_.try_send(1);
    release_.try_send(1);
    raw_unix next(path_);
    next.send(post(1, "/a"));
    EXPECT_EQ(next.receive().body, "/a|");
}

TEST_F(unix_server_test, closes_a_connection_that_does_not_finish_its_head) {
    raw_unix peer(listen({.header_timeout = 20ms, .idle_timeout = 1h}));
    peer.send(post(1, "/a").substr(0, 12));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, closes_a_connection_that_says_nothing) {
    raw_unix peer(listen({.header_timeout = 20ms, .idle_timeout = 1h}));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, closes_a_connection_that_does_not_finish_its_body) {
    raw_unix peer(listen({.header_timeout = 1h, .idle_timeout = 50ms}));
    const auto whole = post(1, "/a", "0123456789");
    peer.send(whole.substr(0, whole.size() - 1));
    EXPECT_TRUE(peer.is_closed_by_peer());
    EXPECT_EQ(seen_, 0);
}

TEST_F(unix_server_test, closes_a_connection_that_is_idle_after_a_request) {
    raw_unix peer(listen({.header_timeout = 1h, .idle_timeout = 50ms}));
    peer.send(post(1, "/"));
    EXPECT_EQ(peer.receive().head, ok(1));
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(unix_server_test, closes_a_connection_that_takes_no_answers) {
    raw_unix peer(listen({.header_timeout = 1h, .idle_timeout = 50ms}));
    peer.send(post(1, "/large") + post(2, "/large"));
    ASSERT_TRUE(has_seen(2));
    // It closes; until then the peer could send on.
    EXPECT_TRUE(test::eventually([&] { return !peer.send(post(3, "/a")); }));
}

TEST_F(unix_server_test, leaves_a_connection_alone_whose_request_takes_longer_than_idling_may) {
    raw_unix slow(listen({.header_timeout = 1h, .idle_timeout = 30ms}));
    slow.send(post(1, "/wait"));
    ASSERT_TRUE(has_seen(1));
    // Another connection's end shows that the time has passed.
    raw_unix idle(path_);
    idle.send(post(1, "/a"));
    EXPECT_EQ(idle.receive().head, ok(1));
    EXPECT_TRUE(idle.is_closed_by_peer());
    release_.try_send(1);
    EXPECT_EQ(slow.receive().head, ok(1));
}

TEST_F(unix_server_test, turns_connections_beyond_the_limit_away) {
    listen({.connections_max = 1});
    raw_unix first(path_);
    first.send(post(1, "/"));
    EXPECT_EQ(first.receive().head, ok(1));
    raw_unix second(path_);
    EXPECT_TRUE(second.is_closed_by_peer());
    first.send(post(2, "/still"));
    EXPECT_EQ(first.receive().body, "/still|");
}

TEST_F(unix_server_test, finishes_the_requests_in_flight_when_it_stops) {
    listen();
    raw_unix busy(path_);
    raw_unix idle(path_);
    idle.send(post(1, "/"));
    EXPECT_EQ(idle.receive().head, ok(1));
    busy.send(post(1, "/wait") + post(2, "/wait"));
    ASSERT_TRUE(has_seen(3));
    auto stopped = start(threads_.executor(), server_->stop(1h));
    EXPECT_TRUE(idle.is_closed_by_peer());
    EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout);
    EXPECT_THROW(raw_unix{path_}, std::system_error);  // It accepts nothing more.
    release_.try_send(1);
    release_.try_send(1);
    EXPECT_EQ(busy.receive().body, "/wait|");
    EXPECT_EQ(busy.receive().body, "/wait|");
    EXPECT_TRUE(busy.is_closed_by_peer());
    stopped.get();
}

TEST_F(unix_server_test, cuts_off_what_does_not_finish_in_time) {
    raw_unix busy(listen());
    busy.send(post(1, "/wait"));
    ASSERT_TRUE(has_seen(1));
    stop(10ms);  // Nothing releases the handler but its cancellation.
    EXPECT_TRUE(busy.is_closed_by_peer());
}

TEST_F(unix_server_test, cuts_off_a_peer_that_takes_no_answers_when_it_stops) {
    raw_unix busy(listen({}, 1));
    busy.send(post(1, "/large") + post(2, "/large"));
    ASSERT_TRUE(has_seen(1));
    stop(10ms);
    SUCCEED();  // It came back.
}

TEST_F(unix_server_test, may_be_stopped_twice) {
    listen();
    stop(1s);
    stop(1s);
}

TEST_F(unix_server_test, may_listen_without_ever_starting) {
    EXPECT_TRUE(unix_server::listen(path_, parts()).has_value());
}

TEST_F(unix_server_test, leaves_no_socket_behind_and_may_be_followed_by_another) {
    listen();
    stop(1s);
    struct stat found{};
    EXPECT_NE(::lstat(path_.c_str(), &found), 0);
    const auto first = std::move(server_);  // Still there when the next one listens.
    raw_unix peer(listen());
    peer.send(post(1, "/a"));
    EXPECT_EQ(peer.receive().body, "/a|");
}

}  // namespace
}  // namespace posthorn
