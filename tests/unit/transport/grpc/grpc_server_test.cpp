#include "transport/grpc/grpc_server.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/channel.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"
#include "transport/grpc/grpc_channel.hpp"
#include "unit/transport/grpc/http2_flood.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::size_t count_threads() {
    return static_cast<std::size_t>(
        std::ranges::distance(std::filesystem::directory_iterator("/proc/self/task")));
}

task<> start_server(grpc_server& server) {
    server.start();
    co_return;
}

/// A server on a thread of its own. `/wait` answers once released, `/throw` throws, `/large`
/// answers with much, everything else with what it saw.
class grpc_server_test : public testing::Test {
protected:
    void SetUp() override {
        if (!has_grpc()) GTEST_SKIP() << "built without gRPC";
    }
    ~grpc_server_test() override { stop(0ms); }

    void listen(http_limits limits = {}) {
        bind(limits);
        start(threads_.executor(), start_server(*server_)).get();
    }
    void bind(http_limits limits = {}) {
        server_ = grpc_server::listen({"127.0.0.1", 0}, parts(limits)).value();
    }
    void stop(std::chrono::milliseconds patience) {
        if (server_) start(threads_.executor(), server_->stop(patience)).get();
        server_.reset();
    }
    grpc_server_deps parts(http_limits limits = {}) {
        return {.env = env_,
                .handler = [this](wire_request request) { return answer(std::move(request)); },
                .limits = limits};
    }

    std::unique_ptr<grpc_channel> connect(std::chrono::milliseconds patience = 30s,
                                          std::size_t reply_bytes_max = std::size_t{4} << 20) {
        return grpc_channel::open({.host = "127.0.0.1",
                                   .port = server_->address().port,
                                   .exchange_timeout = patience,
                                   .reply_bytes_max = reply_bytes_max})
            .value();
    }
    std::future<result<wire_reply>> begin(grpc_channel& over, wire_request request) {
        return start(threads_.executor(), over.exchange(std::move(request)));
    }
    result<wire_reply> ask(grpc_channel& over, std::string path) {
        return begin(over, {.path = std::move(path), .body = "b"}).get();
    }

    task<wire_reply> answer(wire_request request) {
        ++seen_;
        if (request.path == "/throw") throw std::runtime_error("secret");
        if (request.path == "/large") co_return wire_reply{.body = std::string(1 << 20, 'x')};
        if (request.path == "/wait" && !co_await release_.receive())
            co_return wire_reply{.status = 599};
        co_return wire_reply{.body = request.path + "|" + request.body};
    }
    bool has_seen(int count) {
        return test::eventually([&] { return seen_ == count; });
    }

    io_threads threads_{"test-io"};
    worker_threads workers_{"test-workers"};
    real_timer time_;
    logger log_ = logger::null();
    test::test_environment env_{
        {.log = log_, .timer = &time_, .network = threads_.executor(), .workers = &workers_}};
    channel<int> release_{16};
    std::atomic<int> seen_ = 0;
    std::unique_ptr<grpc_server> server_;
};

TEST_F(grpc_server_test, turns_calls_away_until_it_is_started) {
    bind();
    const auto way = connect();
    const auto early = ask(*way, "/x");
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code(), error_code::unreachable);
    EXPECT_THAT(early.error().what(), HasSubstr("starting"));
    start(threads_.executor(), start_server(*server_)).get();
    EXPECT_EQ(ask(*way, "/x").value().body, "/x|b");
    EXPECT_EQ(seen_, 1);
}

TEST_F(grpc_server_test, can_be_given_up_before_it_is_started) {
    bind();
    const auto way = connect();
    EXPECT_FALSE(ask(*way, "/x"));
    server_.reset();
    EXPECT_FALSE(ask(*way, "/x"));
}

TEST_F(grpc_server_test, answers_500_without_the_reason_where_a_handler_throws) {
    listen();
    const auto way = connect();
    const auto reply = ask(*way, "/throw").value();
    EXPECT_EQ(reply.status, 500);
    EXPECT_THAT(reply.body, AllOf(HasSubstr("internal_error"), Not(HasSubstr("secret"))));
    EXPECT_EQ(ask(*way, "/x").value().status, 200);
}

TEST_F(grpc_server_test, turns_away_calls_beyond_those_it_may_have) {
    listen({.connections_max = 2});
    const auto way = connect();
    auto one = begin(*way, {.path = "/wait"});
    auto two = begin(*way, {.path = "/wait"});
    ASSERT_TRUE(has_seen(2));
    const auto third = ask(*way, "/x");
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().what(), HasSubstr("too many calls"));
    ASSERT_TRUE(release_.try_send(1));
    ASSERT_TRUE(release_.try_send(1));
    EXPECT_EQ(one.get().value().status, 200);
    EXPECT_EQ(two.get().value().status, 200);
    EXPECT_TRUE(test::eventually([&] { return ask(*way, "/x").has_value(); }));
}

TEST_F(grpc_server_test, leaves_an_answer_unread_that_is_past_the_limit) {
    listen();
    const auto way = connect(30s, 64 * 1024);
    EXPECT_EQ(ask(*way, "/large").value().status, 413);
    EXPECT_EQ(ask(*way, "/x").value().status, 200);
}

TEST_F(grpc_server_test, says_that_a_request_is_too_large_however_large_it_is) {
    listen({.body_bytes_max = 64 * 1024});
    const auto way = connect();
    for (const std::size_t size : {std::size_t{65} << 10, std::size_t{1} << 20}) {
        const auto reply = begin(*way, {.path = "/x", .body = std::string(size, 'x')}).get();
        EXPECT_EQ(reply.value().status, 413) << size;
        EXPECT_THAT(reply.value().body, HasSubstr("body_too_large"));
    }
    EXPECT_EQ(seen_, 0);
    EXPECT_EQ(ask(*way, "/x").value().status, 200);
}

TEST_F(grpc_server_test, bounds_what_strangers_have_not_finished_sending_together) {
    constexpr std::size_t bytes_max = std::size_t{16} << 20;
    listen({.unknown_body_bytes_max = bytes_max});
    test::http2_flood stranger(server_->address().port);
    // More may come before gRPC sees to it; then calls are ended until it is little enough.
    const auto is_bounded = [&] {
        return stranger.ended_calls() > 0 && stranger.held_bytes() <= bytes_max;
    };
    while (!is_bounded() && stranger.go_on()) continue;
    EXPECT_TRUE(is_bounded()) << stranger.held_bytes() << " bytes are held";
    const auto peer = connect();
    // A call of a peer may be among those that are ended, and is tried again.
    EXPECT_TRUE(test::eventually([&] {
        const auto reply = ask(*peer, "/seen");
        return reply && reply->status == 200;
    })) << "others get through";
}

TEST_F(grpc_server_test, says_of_no_request_that_it_is_too_large_for_want_of_memory) {
    listen({.unknown_body_bytes_max = std::size_t{256} << 10});
    const auto way = connect();
    std::vector<std::future<result<wire_reply>>> calls;
    for (int i = 0; i < 20; ++i)
        calls.push_back(begin(*way, {.path = "/x", .body = std::string(1'000'000, 'x')}));
    for (auto& one : calls)
        if (const auto reply = one.get()) EXPECT_EQ(reply->status, 200) << reply->body;
}

TEST_F(grpc_server_test, is_not_waited_for_longer_than_the_deadline) {
    listen();
    const auto way = connect(100ms);
    const auto late = ask(*way, "/wait");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), error_code::unreachable);
    EXPECT_THAT(late.error().what(), HasSubstr("within 100 ms"));
}

TEST_F(grpc_server_test, ends_the_patience_of_a_stop_when_it_is_cut_off) {
    listen();
    const auto way = connect();
    auto waiting = begin(*way, {.path = "/wait"});
    ASSERT_TRUE(has_seen(1));
    auto stopped = start(threads_.executor(), server_->stop(30s));
    ASSERT_EQ(stopped.wait_for(20ms), std::future_status::timeout);
    start(threads_.executor(),
          [](grpc_server& server) -> task<> {
              server.cut_off();
              co_return;
          }(*server_))
        .get();
    stopped.get();
    EXPECT_FALSE(waiting.get());
    start(threads_.executor(), server_->stop(30s)).get();  // Twice is safe.
}

TEST_F(grpc_server_test, leaves_no_thread_behind) {
    const auto before = count_threads();
    for (int round = 0; round < 2; ++round) {
        listen();
        {
            const auto way = connect();
            EXPECT_EQ(ask(*way, "/x").value().status, 200);
        }
        stop(30s);
        // Those of an earlier test may have been ending.
        EXPECT_TRUE(test::eventually([&] { return count_threads() <= before; }));
    }
}

TEST_F(grpc_server_test, says_what_to_do_where_somebody_listens_already) {
    listen();
    const auto second = grpc_server::listen(server_->address(), parts());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), error_code::address_unavailable);
    EXPECT_THAT(second.error().what(), HasSubstr("another port"));
}

TEST_F(grpc_server_test, needs_certificates_that_can_be_read) {
    const test::temporary_directory folder;
    auto wish = parts();
    wish.tls = {.certificate = folder.file("none.crt"), .key = folder.file("none.key")};
    const auto server = grpc_server::listen({"127.0.0.1", 0}, std::move(wish));
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code(), error_code::certificate_unusable);
    const auto way = grpc_channel::open(
        {.host = "h", .port = 1, .tls = true, .authority = folder.file("none.crt")});
    ASSERT_FALSE(way);
    EXPECT_EQ(way.error().code(), error_code::certificate_unusable);
}

}  // namespace
}  // namespace posthorn
