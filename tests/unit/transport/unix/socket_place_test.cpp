#include "transport/unix/socket_place.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/async/io_threads.hpp"
#include "base/async/timer.hpp"
#include "support/raw_unix.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"
#include "transport/unix/unix_server.hpp"

namespace posthorn {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

mode_t mode_of(const std::string& path) {
    struct stat found{};
    EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777U;
}

class socket_place_test : public testing::Test {
protected:
    /// Why the path cannot be had.
    std::string refusal() {
        const auto claimed = socket_place::claim(path_);
        if (claimed) return "";
        EXPECT_EQ(claimed.error().code(), error_code::address_unavailable);
        EXPECT_THAT(claimed.error().what(), HasSubstr(path_));
        return claimed.error().what();
    }

    test::temporary_directory directory_;
    std::string inside_ = directory_.file("s");
    std::string path_ = inside_ + "/stock.sock";
};

TEST_F(socket_place_test, makes_a_directory_that_only_we_may_enter) {
    EXPECT_TRUE(socket_place::claim(path_));
    EXPECT_EQ(mode_of(inside_), 0700U);
}

TEST_F(socket_place_test, makes_one_directory_and_no_more) {
    path_ = inside_ + "/t/stock.sock";
    EXPECT_THAT(refusal(), HasSubstr("make it with mode 0700"));
    EXPECT_FALSE(fs::exists(inside_));
}

TEST_F(socket_place_test, refuses_a_directory_that_others_may_enter) {
    fs::create_directory(inside_);
    for (const auto mode : {0710U, 0701U, 0770U, 0755U, 0707U, 0777U}) {
        ASSERT_EQ(::chmod(inside_.c_str(), mode), 0);
        EXPECT_THAT(refusal(), HasSubstr("chmod 700"));
    }
    ASSERT_EQ(::chmod(inside_.c_str(), 0700), 0);
    EXPECT_EQ(refusal(), "");
}

TEST_F(socket_place_test, refuses_a_directory_that_is_another_users) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    fs::create_directory(inside_);
    ASSERT_EQ(::chmod(inside_.c_str(), 0700), 0);
    ASSERT_EQ(::chown(inside_.c_str(), 65534, 65534), 0);
    EXPECT_THAT(refusal(), HasSubstr("belongs to user 65534"));
}

TEST_F(socket_place_test, refuses_a_directory_that_is_none) {
    std::ofstream(inside_) << "file";
    EXPECT_THAT(refusal(), HasSubstr("not a directory"));
}

TEST_F(socket_place_test, removes_a_socket_that_nobody_answers_on) {
    fs::create_directory(inside_);
    ASSERT_EQ(::chmod(inside_.c_str(), 0700), 0);
    {
        const test::raw_unix_listener dead(path_);
    }
    ASSERT_TRUE(fs::exists(path_));
    const auto claimed = socket_place::claim(path_);
    EXPECT_TRUE(claimed);
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(socket_place_test, leaves_a_socket_alone_that_somebody_listens_on) {
    fs::create_directory(inside_);
    ASSERT_EQ(::chmod(inside_.c_str(), 0700), 0);
    test::raw_unix_listener alive(path_);
    EXPECT_THAT(refusal(), HasSubstr("another program listens there"));
    EXPECT_NO_THROW(test::raw_unix{path_});
}

TEST_F(socket_place_test, leaves_what_is_no_socket_alone) {
    fs::create_directory(inside_);
    ASSERT_EQ(::chmod(inside_.c_str(), 0700), 0);
    std::ofstream(path_) << "precious";
    EXPECT_THAT(refusal(), HasSubstr("no socket"));
    EXPECT_EQ(fs::file_size(path_), 8U);
    fs::remove(path_);
    fs::create_symlink(inside_ + "/nowhere", path_);
    EXPECT_THAT(refusal(), HasSubstr("no socket"));
    EXPECT_TRUE(fs::is_symlink(path_));
}

TEST_F(socket_place_test, is_had_by_one_at_a_time) {
    std::optional<result<socket_place>> first = socket_place::claim(path_);
    ASSERT_TRUE(*first);
    EXPECT_THAT(refusal(), HasSubstr("another process listens there"));
    first.reset();
    EXPECT_EQ(refusal(), "");
}

TEST_F(socket_place_test, refuses_a_path_that_does_not_fit) {
    path_ = inside_ + "/" + std::string(108, 'a');
    EXPECT_THAT(refusal(), HasSubstr("choose a shorter one"));
    EXPECT_FALSE(socket_place::claim(""));
    EXPECT_FALSE(socket_place::claim(std::string("\0a", 2)));
}

TEST_F(socket_place_test, has_a_socket_that_only_we_may_open) {
    io_threads threads("test-io");
    auto log = logger::null();
    const test::test_environment env({.log = log, .network = threads.executor()});
    const auto server = unix_server::listen(
        path_, {env, [](wire_request) -> task<wire_reply> { co_return wire_reply{}; }});
    ASSERT_TRUE(server);
    EXPECT_EQ(mode_of(path_), 0600U);
    const auto second = unix_server::listen(path_, {env, {}});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), error_code::address_unavailable);
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(socket_place_test, shares_a_directory_in_which_nobody_can_replace_what_is_ours) {
    const auto refused = [&] { return !socket_place::claim(path_, socket_folder::shared); };
    EXPECT_TRUE(refused()) << "it is not there, and not made";
    fs::create_directory(inside_);
    for (const auto mode : {0700U, 0755U, 01777U, 01770U}) {
        ASSERT_EQ(::chmod(inside_.c_str(), mode), 0);
        EXPECT_FALSE(refused()) << fmt::format("{:o}", mode);
    }
    for (const auto mode : {0777U, 0770U, 0702U}) {
        ASSERT_EQ(::chmod(inside_.c_str(), mode), 0);
        EXPECT_TRUE(refused()) << fmt::format("{:o}", mode);
    }
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chmod(inside_.c_str(), 01777U), 0);
    ASSERT_EQ(::chown(inside_.c_str(), 65534, 65534), 0);
    EXPECT_TRUE(refused()) << "its owner can replace everything in it";
}

TEST_F(socket_place_test, a_socket_in_a_shared_directory_is_for_its_owner_alone) {
    fs::create_directory(inside_);
    ASSERT_EQ(::chmod(inside_.c_str(), 01777U), 0);
    io_threads threads("places");
    auto log = logger::null();
    const test::test_environment env({.log = log, .network = threads.executor()});
    const auto server =
        unix_server::listen(path_, {.env = env, .handler = {}, .folder = socket_folder::shared});
    ASSERT_TRUE(server);
    EXPECT_EQ(mode_of(path_), 0600U);
    EXPECT_EQ(mode_of(path_ + ".lock"), 0600U);
}

}  // namespace
}  // namespace posthorn
