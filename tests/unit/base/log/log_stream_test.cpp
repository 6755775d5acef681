#include "base/log/log_stream.hpp"

#include <array>
#include <csignal>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/raw_unix.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::string told(std::uint64_t dropped) { return fmt::format("{} dropped", dropped); }

std::array<int, 2> pipe_pair() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return ends;
}

/// A pipe or a socket that is read when the test says so.
class log_stream_test : public testing::TestWithParam<std::array<int, 2> (*)()> {
protected:
    ~log_stream_test() override {
        ::close(ends_[1]);
        if (ends_[0] >= 0) ::close(ends_[0]);
    }

    [[nodiscard]] int in() const { return ends_[1]; }
    /// What is there now.
    void read() {
        char some[4096];
        for (::pollfd asked{.fd = ends_[0], .events = POLLIN, .revents = 0};
             ::poll(&asked, 1, 0) > 0;) {
            const auto size = ::read(ends_[0], some, sizeof some);
            if (size <= 0) return;
            text_.append(some, static_cast<std::size_t>(size));
        }
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::istringstream from(text_);
        for (std::string line; std::getline(from, line);) all.push_back(line);
        return all;
    }
    void stop_reading() {
        ::close(ends_[0]);
        ends_[0] = -1;
    }

    std::string text_;

private:
    std::array<int, 2> ends_ = GetParam()();
};

TEST(log_stream, outlives_the_reader_of_a_pipe) {
    ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);  // Which would end this process.
    const auto ends = pipe_pair();
    log_stream stream(ends[1], told);
    ::close(ends[0]);
    stream.write("to nobody");
    stream.write("still there");
    sigset_t pending;
    ASSERT_EQ(sigpending(&pending), 0);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0) << "it would come later";
    ::close(ends[1]);
}

TEST_P(log_stream_test, writes_each_line_at_once) {
    log_stream stream(in(), told);
    stream.write("one");
    read();
    EXPECT_THAT(lines(), ElementsAre("one"));
    stream.write("two");
    read();
    EXPECT_EQ(text_, "one\ntwo\n");
}

TEST_P(log_stream_test, waits_for_no_reader_and_tells_how_many_lines_that_cost) {
    constexpr int all = 5'000;
    log_stream stream(in(), told);
    for (int i = 0; i < all; ++i) stream.write(fmt::format("{:06} {:>100}", i, '.'));
    // What was kept comes by itself, without another line.
    EXPECT_TRUE(test::eventually([&] {
        read();
        return text_.ends_with(" dropped\n");
    }));
    auto seen = lines();
    ASSERT_FALSE(seen.empty());
    const auto dropped = std::stoi(seen.back());
    seen.pop_back();
    EXPECT_GT(dropped, 0);
    EXPECT_EQ(std::ssize(seen) + dropped, all);
    for (std::size_t i = 0; i < seen.size(); ++i)
        ASSERT_THAT(seen[i], StartsWith(fmt::format("{:06} ", i)));
    stream.write("after");
    read();
    EXPECT_EQ(lines().back(), "after");
}

TEST_P(log_stream_test, leaves_the_mode_of_the_descriptor_to_those_who_share_it) {
    const auto before = ::fcntl(in(), F_GETFL);
    log_stream stream(in(), told);
    stream.write("one");
    EXPECT_EQ(::fcntl(in(), F_GETFL), before);
}

TEST_P(log_stream_test, gives_up_when_the_reader_is_gone) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    {
        log_stream stream(in(), told);
        for (int i = 0; i < 5'000; ++i) stream.write(std::string(100, '.'));
        stop_reading();
        stream.write("one");
    }
    std::signal(SIGPIPE, before);
}

TEST_P(log_stream_test, writes_what_is_left_at_its_end) {
    const std::string long_line(70'000, '.');  // More than a pipe holds.
    {
        log_stream stream(in(), told);
        stream.write(long_line);
        read();
    }
    read();
    EXPECT_TRUE(text_ == long_line + "\n") << text_.size();
}

INSTANTIATE_TEST_SUITE_P(of, log_stream_test, testing::Values(pipe_pair, test::socket_pair),
                         [](const auto& info) { return info.index == 0 ? "pipe" : "socket"; });

TEST(log_stream, is_not_needed_for_a_file) {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EXPECT_FALSE(log_stream::may_wait(file));
    ::close(file);
}

}  // namespace
}  // namespace posthorn
