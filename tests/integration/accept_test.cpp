// A server that cannot accept: it goes on trying, and does not fill the log.
// Not among the unit tests: in a process that can open no file, a sanitizer takes every object for a
// broken one.
#include <atomic>
#include <mutex>

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/async/io_threads.hpp"
#include "base/async/timer.hpp"
#include "base/async/virtual_time.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"
#include "transport/http/server.hpp"
#include "transport/unix/unix_server.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// Pauses that are over at once; it counts them.
class short_pauses final : public timer {
public:
    task<result<>> sleep_for(std::chrono::nanoseconds) override {
        ++count;
        return pause_.sleep_for(1ms);
    }
    std::atomic<int> count = 0;

private:
    real_timer pause_;
};

/// No further file can be opened in this process, as long as it lives.
class no_more_files {
public:
    no_more_files() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::dup(0);  // The lowest that is free.
        ::close(next);
        auto few = before_;
        few.rlim_cur = static_cast<rlim_t>(next);
        setrlimit(RLIMIT_NOFILE, &few);
    }
    ~no_more_files() { setrlimit(RLIMIT_NOFILE, &before_); }
    no_more_files(const no_more_files&) = delete;
    no_more_files& operator=(const no_more_files&) = delete;

private:
    rlimit before_{};
};

class accept_test : public testing::Test {
protected:
    /// Lines in the log after so many failures more.
    [[nodiscard]] std::size_t lines_after(int failures) {
        const int until = pauses_.count + failures;
        EXPECT_TRUE(test::eventually([&] { return pauses_.count >= until; }));
        const std::scoped_lock lock(mutex_);
        return lines_.size();
    }
    template <class Server>
    void run(Server& server) {
        start(threads_.executor(), begin(server)).get();
    }
    template <class Server>
    void stop(Server& server) {
        start(threads_.executor(), server.stop(0ms)).get();
    }
    [[nodiscard]] std::string last_line() {
        const std::scoped_lock lock(mutex_);
        return lines_.back();
    }

    io_threads threads_{"test-io"};
    short_pauses pauses_;
    virtual_time still_;  // Of which no second passes.
    std::mutex mutex_;
    std::vector<std::string> lines_;
    logger log_{{.sink =
                     [this](std::string_view line) {
                         const std::scoped_lock lock(mutex_);
                         lines_.emplace_back(line);
                     }},
                [] { return wall_time{}; }};
    test::test_environment env_{
        {.log = log_, .clock = &still_, .timer = &pauses_, .network = threads_.executor()}};

private:
    template <class Server>
    static task<> begin(Server& server) {
        server.start();
        co_return;
    }
};

TEST_F(accept_test, of_http_that_fails_again_and_again_writes_a_line_a_second) {
    auto server = http_server::listen({"127.0.0.1", 0}, {env_, {}, {}, nullptr}).value();
    run(*server);
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server->address().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    {
        const no_more_files full;
        ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address),
                  0);
        EXPECT_EQ(lines_after(50), 1U);
        EXPECT_THAT(last_line(), testing::HasSubstr("Cannot accept on 127.0.0.1:"));
    }
    ::close(client);
    stop(*server);
}

TEST_F(accept_test, of_a_unix_socket_that_fails_again_and_again_writes_a_line_a_second) {
    test::temporary_directory folder;
    const auto path = folder.file("s/stock.sock");
    auto server = unix_server::listen(path, {env_, {}, {}, 64}).value();
    run(*server);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    {
        const no_more_files full;
        ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address),
                  0);
        EXPECT_EQ(lines_after(50), 1U);
        EXPECT_THAT(last_line(), testing::HasSubstr("Cannot accept on " + path));
    }
    ::close(client);
    stop(*server);
}

}  // namespace
}  // namespace posthorn
