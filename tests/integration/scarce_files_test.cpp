// Here and not among the unit tests: a sanitizer opens files of its own when it looks at an object.
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "transport/http/server.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::raw_http;

constexpr std::string_view good = "GET /good HTTP/1.1\r\nHost: x\r\n\r\n";

task<http_response> answer(http_request request) { co_return http_response{200, {}, request.path}; }

using scarce_files = test::http_fixture;

/// Lets the process open one more file and then none, until it is destroyed.
class one_file_left {
public:
    one_file_left() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest_free = ::dup(STDERR_FILENO);
        ::close(lowest_free);
        auto now = before_;
        now.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~one_file_left() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    one_file_left(const one_file_left&) = delete;
    one_file_left& operator=(const one_file_left&) = delete;

private:
    rlimit before_{};
};

TEST_F(scarce_files, are_given_up_by_strangers_for_those_who_come) {
    const auto port = listen(answer, {.idle_timeout = 1h});
    std::vector<std::unique_ptr<raw_http>> idle;
    for (int i = 0; i < 3; ++i) {
        idle.push_back(std::make_unique<raw_http>(port));
        idle.back()->send(good);
        EXPECT_EQ(idle.back()->receive().status, 200);
    }
    const one_file_left scarce;  // The client's end takes it.
    EXPECT_EQ(test::ask(port, good).status, 200);
    EXPECT_TRUE(idle.front()->is_closed_by_peer());
}

}  // namespace
}  // namespace posthorn
