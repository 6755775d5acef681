#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
#include "base/result.hpp"
#include "base/text/http_url.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/tls.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

class client_connection;
struct http_call;

/// What HTTP clients are built from.
struct http_client_deps {
    boost::asio::any_io_executor where;  // One thread or a strand.
    /// Runs the connections. Outlives the client; joined after the client was stopped or destroyed.
    task_group& tasks;
    timer& time;  // Outlives the client.
    /// Whom to trust; null: the system's authorities, loaded where an https URL needs them.
    std::shared_ptr<tls_context> tls{};
};

/// The connections to one host: makes them, keeps them, hands requests out among them.
///
/// Lifetime: outlives the calls of `send`. Stopping closes the connections without waiting for the
///           coroutines that run them, which touch nothing of the pool: the task group's `join`
///           does.
/// Threads:  every member runs on the executor given, but the destructor on any.
/// Cancel:   a cancelled `send` closes the connection it was on, if it was sent already.
class client_pool {
public:
    struct options {
        http_pool_limits limits{};
        /// Whether any request may be sent again where a kept connection turns out to be closed, or
        /// only those with a method that says so.
        bool repeats_are_harmless = false;
        std::string peer_name{};  // What the server's certificate must vouch for, if not empty.
    };

    client_pool(http_client_deps parts, http_url to, options chosen);
    ~client_pool();
    client_pool(const client_pool&) = delete;
    client_pool& operator=(const client_pool&) = delete;

    /// The reply, whatever its status; or `unreachable`, `cancelled`, `closed` once stopped, or
    /// `invalid_argument` for a request that cannot be written.
    task<result<http_response>> send(http_request request, http_call_limits limits);
    /// Requests on their way fail with `unreachable`. Twice is safe.
    void stop();

private:
    using connection = std::shared_ptr<client_connection>;

    task<result<http_response>> perform(std::shared_ptr<http_call> call);
    task<result<connection>> place(std::shared_ptr<http_call> call);
    connection choose();
    [[nodiscard]] bool has_room() const;
    [[nodiscard]] bool may_repeat(const http_call& call) const;
    void wake_one();

    http_client_deps parts_;
    http_url to_;
    options options_;
    std::vector<connection> connections_;
    std::deque<std::shared_ptr<waiter>> waiting_;  // For room on a connection.
    bool stopped_ = false;
};

}  // namespace posthorn
