#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "support/raw_http.hpp"
#include "support/test_environment.hpp"
#include "transport/http/client_pool.hpp"
#include "transport/http/server.hpp"

namespace posthorn::test {

/// A network thread on which servers and clients of HTTP run.
///
/// Lifetime: `finish` ends what runs, and is called where a derived class destroys what clients
/// use.
class http_fixture : public testing::Test {
protected:
    ~http_fixture() override { finish(); }

    template <class T>
    T run(task<T> body) {
        return start(threads_.executor(), std::move(body)).get();
    }

    /// A server on any free port; it runs until the test ends.
    std::uint16_t listen(http_handler handler, http_limits limits = {},
                         const tls_server* tls = nullptr) {
        auto server =
            http_server::listen({"127.0.0.1", 0}, {env_, std::move(handler), limits, tls});
        servers_.push_back(std::move(server).value());
        run(start_server(*servers_.back()));
        return servers_.back()->address().port;
    }

    http_client_deps client_parts(std::shared_ptr<tls_context> tls = nullptr) {
        return {threads_.executor(), tasks_, time_, std::move(tls)};
    }

    /// Ends the connections of clients that are destroyed already, and the servers.
    void finish() {
        for (const auto& server : servers_) run(server->stop(std::chrono::milliseconds(0)));
        servers_.clear();
        run(tasks_.join());
    }

    /// Lets requests in flight end for so long.
    void stop_servers(std::chrono::milliseconds patience) {
        for (const auto& server : servers_) run(server->stop(patience));
    }

    static std::string url(std::uint16_t port) {
        return "http://127.0.0.1:" + std::to_string(port);
    }

    io_threads threads_{"test-io"};
    real_timer time_;
    logger log_ = logger::null();
    test::test_environment env_{{.log = log_, .timer = &time_, .network = threads_.executor()}};
    task_group tasks_{threads_.executor()};

private:
    static task<> start_server(http_server& server) {
        server.start();
        co_return;
    }

    std::vector<std::unique_ptr<http_server>> servers_;
};

}  // namespace posthorn::test
