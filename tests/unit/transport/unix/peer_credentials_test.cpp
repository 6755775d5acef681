#include "transport/unix/peer_credentials.hpp"

#include <memory>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "support/other_user.hpp"
#include "support/raw_unix.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"
#include "transport/unix/unix_server.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::visit;

constexpr uid_t nobody = 65534;

TEST(peer_credentials, trust_our_own_user_and_root_alone) {
    EXPECT_TRUE(is_trusted_user(1000, 1000));
    EXPECT_TRUE(is_trusted_user(0, 1000));
    EXPECT_TRUE(is_trusted_user(0, 0));
    EXPECT_FALSE(is_trusted_user(1001, 1000));
    EXPECT_FALSE(is_trusted_user(1000, 0));
    EXPECT_FALSE(is_trusted_user(nobody, 1000));
}

TEST(peer_credentials, are_read_from_the_socket) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_TRUE(check_peer(ends[0]));
    ::close(ends[0]);
    ::close(ends[1]);
    const auto of_no_socket = check_peer(-1);
    ASSERT_FALSE(of_no_socket);
    EXPECT_EQ(of_no_socket.error().code(), error_code::access_denied);
}

task<> start_server(unix_server& server) {
    server.start();
    co_return;
}

/// A server whose socket lies where everybody could come to, were it not for its directory.
class another_user : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
        ASSERT_EQ(::chmod(directory_.path().c_str(), 0711), 0);
        server_ = unix_server::listen(path_, {env_,
                                              [this](wire_request) -> task<wire_reply> {
                                                  seen_ = true;
                                                  co_return wire_reply{};
                                              }})
                      .value();
        start(threads_.executor(), start_server(*server_)).get();
    }
    ~another_user() override {
        if (server_) start(threads_.executor(), server_->stop(0ms)).get();
    }

    test::temporary_directory directory_;
    std::string inside_ = directory_.file("s");
    std::string path_ = inside_ + "/stock.sock";
    io_threads threads_{"test-io"};
    real_timer time_;
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_, .timer = &time_, .network = threads_.executor()}};
    std::atomic<bool> seen_ = false;
    std::unique_ptr<unix_server> server_;
    const std::string request_ = test::frame_bytes("1 POST /_rf/receive\n", "{}");
};

TEST_F(another_user, cannot_enter_the_directory) {
    EXPECT_EQ(test::visit_as(nobody, path_, request_), visit::no_entry);
}

TEST_F(another_user, is_dismissed_even_where_directory_and_socket_let_it_in) {
    ASSERT_EQ(::chmod(inside_.c_str(), 0711), 0);
    ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
    EXPECT_EQ(test::visit_as(nobody, path_, request_), visit::dismissed);
    EXPECT_FALSE(seen_);
    // The same bytes from a trusted user, to show that they were not what was wrong.
    EXPECT_EQ(test::visit_as(0, path_, request_), visit::answered);
    EXPECT_TRUE(seen_);
}

}  // namespace
}  // namespace posthorn
