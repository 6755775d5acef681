#include "transport/unix/unix_channel.hpp"

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"
#include "base/async/channel.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "support/eventually.hpp"
#include "support/raw_unix.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::frame_bytes;
using test::raw_unix;
using test::raw_unix_listener;
using testing::HasSubstr;
using testing::StartsWith;

using answer = std::future<result<wire_reply>>;

std::string ok(std::string_view number, std::string_view body = "") {
    return frame_bytes(std::string(number) + " 200\n", body);
}

/// A channel towards a peer that the test plays itself, byte by byte.
class unix_channel_test : public testing::Test {
protected:
    ~unix_channel_test() override {
        channel_.reset();
        threads_.stop();
    }

    void open(unix_channel_options options = {}) {
        options.path = path_;
        channel_ = std::make_unique<unix_channel>(threads_.executor(), time_, std::move(options));
    }

    answer ask(std::string body) {
        return start(threads_.executor(),
                     channel_->exchange({.path = "/_rf/receive", .body = std::move(body)}));
    }

    static error_code failure_of(answer& one) {
        const auto outcome = one.get();
        EXPECT_FALSE(outcome);
        return outcome ? error_code{} : outcome.error().code();
    }

    test::temporary_directory directory_;
    std::string path_ = directory_.file("stock.sock");
    std::optional<raw_unix_listener> listener_{path_};
    real_timer time_;
    io_threads threads_{"test-io"};
    std::unique_ptr<unix_channel> channel_;
};

TEST_F(unix_channel_test, carries_a_request_and_brings_back_its_reply) {
    open();
    auto one = ask("hello");
    auto peer = listener_->accept();
    const auto request = peer.receive();
    EXPECT_EQ(request.head, "1 POST /_rf/receive\ncontent-type: application/json\n");
    EXPECT_EQ(request.body, "hello");
    peer.send(
        frame_bytes("1 503\ncontent-type: text/plain\nrf-hmac: x\nretry-after: 3\n", "later"));
    const auto reply = one.get();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(reply->content_type, "text/plain");
    EXPECT_EQ(reply->signature.hmac, "x");
    EXPECT_EQ(reply->retry_after, 3s);
    EXPECT_EQ(reply->body, "later");
}

TEST_F(unix_channel_test, gives_each_its_own_answer_whatever_their_order) {
    open();
    auto one = ask("one");
    auto two = ask("two");
    auto three = ask("three");
    auto peer = listener_->accept();
    for (const std::string_view body : {"one", "two", "three"})
        EXPECT_EQ(peer.receive().body, body);
    peer.send(ok("3", "c") + ok("1", "a") + ok("2", "b"));
    EXPECT_EQ(one.get()->body, "a");
    EXPECT_EQ(two.get()->body, "b");
    EXPECT_EQ(three.get()->body, "c");
}

TEST_F(unix_channel_test, keeps_its_connection) {
    open();
    auto one = ask("one");
    auto peer = listener_->accept();
    (void)peer.receive();
    peer.send(ok("1"));
    EXPECT_TRUE(one.get());
    auto two = ask("two");
    EXPECT_THAT(peer.receive().head, StartsWith("2 POST "));
    peer.send(ok("2"));
    EXPECT_TRUE(two.get());
}

TEST_F(unix_channel_test, is_unreachable_while_nobody_listens_and_connects_once_somebody_does) {
    listener_.reset();
    open();
    auto refused = ask("one");
    const auto why = refused.get();
    ASSERT_FALSE(why);
    EXPECT_EQ(why.error().code(), error_code::unreachable);
    EXPECT_THAT(why.error().what(), HasSubstr(path_));
    listener_.emplace(path_);
    auto next = ask("two");
    auto peer = listener_->accept();
    EXPECT_EQ(peer.receive().body, "two");
    peer.send(ok("1"));
    EXPECT_TRUE(next.get());
}

TEST_F(unix_channel_test, fails_all_that_is_pending_when_the_connection_breaks_and_reconnects) {
    open();
    auto one = ask("one");
    auto two = ask("two");
    {
        auto peer = listener_->accept();
        (void)peer.receive();
        (void)peer.receive();
        peer.send(ok("2").substr(0, 10));  // Half an answer is none.
    }
    EXPECT_EQ(failure_of(one), error_code::unreachable);
    EXPECT_EQ(failure_of(two), error_code::unreachable);
    auto three = ask("three");
    auto peer = listener_->accept();
    EXPECT_EQ(peer.receive().body, "three");
    peer.send(ok("1"));
    EXPECT_TRUE(three.get());
}

TEST_F(unix_channel_test, notices_that_a_kept_connection_was_closed_before_it_uses_it) {
    open();
    for (int round = 0; round < 20; ++round) {
        auto one = ask("one");
        auto peer = listener_->accept();
        (void)peer.receive();
        peer.send(ok("1"));
        EXPECT_TRUE(one.get());
    }  // Closed each time, and never told but by the socket.
}

TEST_F(unix_channel_test, still_gets_the_answers_of_a_peer_that_reads_no_more) {
    open();
    auto one = ask("one");
    std::optional peer(listener_->accept());
    (void)peer->receive();
    peer->send(ok("1", "last"));
    auto two = ask(std::string(4 << 20, 'x'));  // More than fits: its writing breaks.
    // It has begun by then; otherwise it would go to a new connection, where nobody answers.
    boost::asio::post(threads_.executor(), boost::asio::use_future).get();
    peer.reset();
    EXPECT_EQ(one.get()->body, "last");
    EXPECT_EQ(failure_of(two), error_code::unreachable);
}

TEST_F(unix_channel_test, gives_up_after_its_time_and_drops_a_late_answer) {
    open({.path = {}, .exchange_timeout = 500ms});
    auto slow = ask("slow");
    auto peer = listener_->accept();
    (void)peer.receive();
    auto quick = ask("quick");
    (void)peer.receive();
    peer.send(ok("2"));
    EXPECT_TRUE(quick.get());
    EXPECT_EQ(failure_of(slow), error_code::unreachable);
    peer.send(ok("1", "late"));
    auto next = ask("next");
    EXPECT_EQ(peer.receive().body, "next");  // Others were answered, so the connection is good.
    peer.send(ok("3", "own"));
    EXPECT_EQ(next.get()->body, "own");
}

TEST_F(unix_channel_test, leaves_a_connection_on_which_nothing_came_in_time) {
    open({.path = {}, .exchange_timeout = 50ms});
    auto slow = ask("slow");
    auto peer = listener_->accept();
    EXPECT_EQ(failure_of(slow), error_code::unreachable);
    EXPECT_EQ(peer.receive().body, "slow");
    EXPECT_TRUE(peer.is_closed_by_peer());
    open();
    auto next = ask("next");
    auto other = listener_->accept();
    EXPECT_EQ(other.receive().body, "next");
    other.send(ok("1"));
    EXPECT_TRUE(next.get());
}

TEST_F(unix_channel_test, ends_one_exchange_when_it_is_cancelled_and_leaves_the_others) {
    open();
    boost::asio::cancellation_signal stop;
    auto doomed = boost::asio::co_spawn(
        threads_.executor(), cancellable(channel_->exchange({.path = "/a", .body = "doomed"})),
        boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::use_future));
    auto other = ask("other");
    auto peer = listener_->accept();
    (void)peer.receive();
    (void)peer.receive();
    boost::asio::post(threads_.executor(),
                      [&] { stop.emit(boost::asio::cancellation_type::terminal); });
    EXPECT_EQ(failure_of(doomed), error_code::cancelled);
    peer.send(ok("1") + ok("2", "fine"));
    EXPECT_EQ(other.get()->body, "fine");
}

/// Time that passes when the test says so.
class told_timer final : public timer {
public:
    task<result<>> sleep_for(std::chrono::nanoseconds) override {
        ++sleepers_;
        const auto tick = co_await ticks_.receive();
        --sleepers_;
        if (!tick) co_return cancelled();
        co_return result<>{};
    }
    void pass(int ticks) {
        for (int i = 0; i < ticks; ++i) ticks_.try_send(i);
    }
    /// Whoever still slept when its thread ends would never be destroyed.
    [[nodiscard]] bool wakes_all() {
        ticks_.close();
        return test::eventually([this] { return sleepers_ == 0; });
    }

private:
    channel<int> ticks_{16};
    std::atomic<int> sleepers_ = 0;
};

TEST_F(unix_channel_test, leaves_a_silent_connection_when_a_call_is_given_up_near_its_end) {
    std::array<told_timer, 2> times;  // Eight sleeps are the time of a call.
    for (const auto& [ticks, leaves] : {std::pair{6, false}, {7, true}}) {
        auto& time = times.at(leaves ? 1 : 0);
        channel_ = std::make_unique<unix_channel>(threads_.executor(), time,
                                                  unix_channel_options{.path = path_});
        boost::asio::cancellation_signal stop;
        auto doomed = boost::asio::co_spawn(
            threads_.executor(), cancellable(channel_->exchange({.path = "/a", .body = "doomed"})),
            boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::use_future));
        auto peer = listener_->accept();
        (void)peer.receive();
        boost::asio::post(threads_.executor(), [&, passed = ticks] {
            time.pass(passed);
            boost::asio::post(threads_.executor(),
                              [&] { stop.emit(boost::asio::cancellation_type::terminal); });
        });
        EXPECT_EQ(failure_of(doomed), error_code::cancelled);
        auto next = ask("next");
        auto other = leaves ? listener_->accept() : std::move(peer);
        EXPECT_EQ(other.receive().body, "next");
        other.send(ok(leaves ? "1" : "2"));
        EXPECT_TRUE(next.get());
    }
    channel_.reset();
    for (auto& each : times) EXPECT_TRUE(each.wakes_all());
    threads_.stop();
}

TEST_F(unix_channel_test, breaks_with_a_peer_that_sends_what_is_no_answer) {
    const std::vector<std::string> wrong{
        frame_bytes("", ""),
        frame_bytes("1 POST /\n", ""),
        frame_bytes("x 200\n", ""),
        frame_bytes("2 200\n", ""),  // Nothing of that number was asked.
        frame_bytes("0 200\n", ""),
        frame_bytes("1 200", ""),
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        std::string(8, '\xff') + "1 200\n                                 "};
    for (const auto& bytes : wrong) {
        SCOPED_TRACE(bytes);
        open();
        auto one = ask("one");
        auto peer = listener_->accept();
        (void)peer.receive();
        peer.send(bytes);
        EXPECT_EQ(failure_of(one), error_code::unreachable);
        EXPECT_TRUE(peer.is_closed_by_peer());
    }
}

TEST_F(unix_channel_test, takes_a_reply_of_just_the_limit_and_none_beyond) {
    open({.path = {}, .replies = {.body_bytes_max = 1000}});
    auto one = ask("one");
    auto peer = listener_->accept();
    (void)peer.receive();
    peer.send(ok("1", std::string(1000, 'x')));
    EXPECT_EQ(one.get()->body.size(), 1000U);
    auto two = ask("two");
    (void)peer.receive();
    peer.send(ok("2", std::string(1001, 'x')));
    EXPECT_EQ(failure_of(two), error_code::unreachable);
}

TEST_F(unix_channel_test, says_which_field_cannot_be_sent) {
    open();
    const auto outcome =
        start(threads_.executor(), channel_->exchange({.path = "/a", .content_type = "a\nb"}))
            .get();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::invalid_argument);
    EXPECT_THAT(outcome.error().what(), HasSubstr("content-type"));
}

TEST_F(unix_channel_test, closes_its_connection_when_it_goes) {
    open();
    auto one = ask("one");
    auto peer = listener_->accept();
    (void)peer.receive();
    peer.send(ok("1"));
    EXPECT_TRUE(one.get());
    channel_.reset();
    EXPECT_TRUE(peer.is_closed_by_peer());
}

}  // namespace
}  // namespace posthorn
