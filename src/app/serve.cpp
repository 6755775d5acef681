#include "app/serve.hpp"

#include <csignal>
#include <memory>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <posthorn/version.hpp>

#include "admin/health.hpp"
#include "base/clock.hpp"
#include "base/io_threads.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "base/timer.hpp"
#include "transport/http/router.hpp"
#include "transport/http/server.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

using servers = std::vector<std::unique_ptr<http_server>>;

/// What a running node is made of, in the order in which it is built.
///
/// Lifetime: `listen`, `run` once, destroy.
/// Threads:  `run` and what it calls run on the node's one network thread.
class node_runtime {
public:
    node_runtime(const config& settings, const serve_options& options);

    result<> listen();
    task<> run();
    [[nodiscard]] asio::any_io_executor executor() { return network_.executor(); }

private:
    [[nodiscard]] health_report health() const;
    task<> wait_for_signal();
    task<> stop_servers();
    task<> cut_off_on_signal();

    const config& settings_;
    const serve_options& options_;
    real_clock clock_;
    real_timer time_;
    logger log_;
    router public_routes_;
    router admin_routes_;
    // One thread, so that everything on it is in one strand without paying for a strand.
    io_threads network_{"posthorn-io"};
    asio::signal_set signals_{network_.executor(), SIGINT, SIGTERM};
    servers servers_;
};

node_runtime::node_runtime(const config& settings, const serve_options& options)
    : settings_(settings),
      options_(options),
      log_({.level = settings.log.level, .format = settings.log.format},
           [this] { return clock_.wall(); }) {
    add_health_route(public_routes_, [this] { return health(); });
    add_health_route(admin_routes_, [this] { return health(); });
}

health_report node_runtime::health() const {
    return {health_status::green, settings_.service.id, std::string(version)};
}

result<> node_runtime::listen() {
    const auto open = [this](const host_port& address, const router& routes) -> result<> {
        const auto handler = [&routes](http_request request) {
            return routes.handle(std::move(request));
        };
        auto server = http_server::listen(address, {executor(), time_, log_, handler});
        if (!server) return std::unexpected(server.error());
        servers_.push_back(*std::move(server));
        return {};
    };
    if (settings_.listen.http) POSTHORN_TRY(open(*settings_.listen.http, public_routes_));
    if (settings_.listen.admin) POSTHORN_TRY(open(*settings_.listen.admin, admin_routes_));
    return {};
}

task<> node_runtime::run() {
    using namespace asio::experimental::awaitable_operators;
    for (const auto& server : servers_) server->start();
    for (const auto& server : servers_)
        options_.announce(fmt::format("posthorn: listening on http://{} (health: /_rf/health)",
                                      to_string(server->address())));
    log_.info("Node {Service} runs", {{"Service", settings_.service.id}});
    co_await wait_for_signal();
    log_.info("Stopping; a second signal stops without waiting");
    // Stopping heeds no cancellation, so this waits for it whoever comes first.
    co_await (stop_servers() || cut_off_on_signal());
    log_.info("Stopped");
}

task<> node_runtime::wait_for_signal() {
    co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
}

// All at once: one after the other would wait twice as long.
task<> node_runtime::stop_servers() {
    task_group stopping(executor());
    for (const auto& server : servers_) stopping.spawn(server->stop(options_.drain_timeout));
    co_await stopping.join();
}

// Whoever signals again wants no more waiting.
task<> node_runtime::cut_off_on_signal() {
    const auto [failure, number] =
        co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failure) co_return;
    for (const auto& server : servers_) server->cut_off();
}

}  // namespace

result<> serve(const config& settings, const serve_options& options) {
    node_runtime node(settings, options);
    POSTHORN_TRY(node.listen());
    start(node.executor(), node.run()).get();
    return {};
}

}  // namespace posthorn
