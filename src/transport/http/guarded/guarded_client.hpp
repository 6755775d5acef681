#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "security/address_guard.hpp"
#include "transport/dns/resolver.hpp"
#include "transport/http/guarded/guarded_answer.hpp"
#include "transport/http/guarded/guarded_connection.hpp"
#include "transport/http/guarded/kept_connections.hpp"
#include "transport/http/guarded/late_watch.hpp"
#include "transport/http/tls.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// A request to a stranger.
struct guarded_request {
    std::string url{};
    std::string method = "POST";
    http_headers headers{};  // Ours.
    http_headers custom{};   // The stranger's; none of ours is replaced by one of these.
    std::string body{};
    std::optional<std::chrono::milliseconds> limit{};  // Of the whole; the client's if none.
};

/// A proxy that connections go through.
struct guarded_proxy {
    std::string host;
    std::uint16_t port = 0;
    std::string authorization{};  // The value of the header `Proxy-Authorization`, if not empty.
    /// Whether the proxy looks for names, since it has a guard of its own. Ours then judges the URL
    /// alone, and the addresses that stand in one.
    bool resolves = false;
};

struct guarded_client_options {
    guard_rules rules{};
    guarded_limits limits{};
    std::optional<guarded_proxy> proxy{};
    std::size_t connections_max = 1024;  // In use and idle together.
    std::size_t idle_max = 256;
    std::chrono::milliseconds age_max = std::chrono::minutes(5);
    std::chrono::milliseconds idle_time_max = std::chrono::minutes(1);
};

/// Sends requests to URLs that strangers gave, to public servers and nowhere else: the URL and
/// every address of its name are judged, and connections go to exactly what was judged. Follows no
/// redirect, and reads a bounded part of what comes.
///
/// Lifetime: outlives the calls of `send`; `stop`, then the task group's `join`, then the end.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   a cancelled `send` closes its connection and answers `cancelled`.
class guarded_client {
public:
    struct deps {
        boost::asio::any_io_executor where;
        task_group& tasks;  // Runs what closes old connections. Outlives the client.
        timer& time;
        const clock& now;
        resolver& names;
        std::shared_ptr<tls_context> tls;  // Of `make_tls_for_strangers`.
    };

    guarded_client(deps parts, guarded_client_options options);
    ~guarded_client();
    guarded_client(const guarded_client&) = delete;
    guarded_client& operator=(const guarded_client&) = delete;

    task<guarded_answer> send(guarded_request request);
    /// For the next connection: this machine's addresses may change.
    void set_rules(guard_rules rules) { options_.rules = std::move(rules); }
    /// Idle connections are closed; those in use end with their request. Twice is safe.
    void stop();

    [[nodiscard]] std::size_t connections() const noexcept { return in_use_ + idle_.size(); }
    [[nodiscard]] std::size_t idle_connections() const noexcept { return idle_.size(); }

private:
    struct link;
    struct call;
    using connection = std::shared_ptr<link>;

    task<guarded_step<>> perform(call& now);
    task<guarded_step<connection>> open(call& now);
    task<guarded_step<std::vector<ip_address>>> addresses(call& now);
    task<guarded_step<>> use(connection on, call& now);
    guarded_step<> make_room();
    void keep(connection used);
    void watch_idle();
    task<> close_old();

    deps parts_;
    guarded_client_options options_;
    late_watch late_;
    kept_connections<connection> idle_;
    std::size_t in_use_ = 0;
    boost::asio::cancellation_signal* watching_ = nullptr;
    bool watched_ = false;
    bool stopped_ = false;
};

/// Whom a client of strangers trusts: the authorities in a file, or the system's if none is named;
/// TLS 1.2 or newer. Fails with `certificate_unusable`.
[[nodiscard]] result<std::shared_ptr<tls_context>> make_tls_for_strangers(
    const std::string& authorities = "");

}  // namespace posthorn
