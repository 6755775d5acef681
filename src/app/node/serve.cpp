#include "app/node/serve.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include "app/node/node_runtime.hpp"
#include "app/node/pair.hpp"
#include "base/async/bell.hpp"
#include "base/async/run_on.hpp"
#include "base/async/task_group.hpp"
#include "standby/shipping.hpp"
#include "transport/unix/notify_socket.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// How often the manager wants to hear of us: half of what it waits for. Zero if it does not.
std::chrono::microseconds watchdog_interval() {
    const auto text = variable("WATCHDOG_USEC");
    std::int64_t microseconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), microseconds);
    return std::chrono::microseconds(microseconds / 2);
}

/// How many files this process may have open. Each connection is one, and shells and service
/// managers start programs with room for 1,024: what the system allows beyond that is for programs to
/// take.
std::uint64_t raise_open_files() {
    constexpr rlim_t enough = 65'536;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return enough;
    const auto had = files.rlim_cur;
    files.rlim_cur = std::max(had, std::min(files.rlim_max, enough));
    return ::setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : had;
}

/// A node with a process around it: signals and the service manager.
///
/// Lifetime: `run` once, destroy after it returned.
/// Threads:  `run` on the node's network executor.
class served_node {
public:
    served_node(node_runtime& node, const serve_options& options, std::uint64_t open_files_max)
        : node_(node),
          options_(options),
          open_files_max_(open_files_max),
          manager_(variable("NOTIFY_SOCKET")) {}

    task<result<serve_end>> run();

private:
    void listen_for_switch();
    task<> wait_for_switch();
    task<> give_up_on_drain();
    task<> note_stop();
    task<int> next_signal();
    task<> work();
    task<> drain();
    task<> cut_off_on_signal();
    task<> feed_watchdog();
    void announce() const;
    void log_start() const;
    task<> reload();

    node_runtime& node_;
    const serve_options& options_;
    const std::uint64_t open_files_max_;
    notify_socket manager_;
    real_clock clock_;
    asio::signal_set signals_{node_.network(), SIGINT, SIGTERM, SIGHUP};
    bell switch_;
    bool switching_ = false;
    bool stop_asked_ = false;  // By a signal, which counts for more than a switch.
};

void served_node::listen_for_switch() {
    auto* const ships = node_.core().features().find<standby::shipping>();
    if (ships == nullptr) return;
    ships->note_switch(options_.switch_trouble);
    ships->switch_with([this] { switch_.ring(); });
}

task<> served_node::wait_for_switch() { switching_ = co_await switch_.wait(); }

// Those who wait for the other one to serve waits for this too.
task<> served_node::give_up_on_drain() {
    constexpr std::chrono::milliseconds patience{300};
    if (co_await node_.sleeper().sleep_for(patience)) node_.cut_off();
}

task<result<serve_end>> served_node::run() {
    using namespace asio::experimental::awaitable_operators;
    listen_for_switch();
    POSTHORN_CO_TRY(co_await node_.start());
    announce();
    log_start();
    manager_.tell("READY=1");
    co_await (work() || feed_watchdog() || wait_for_switch());
    if (switching_ && !stop_asked_) {
        node_.log().info("Stopping, to give the role of the primary to the standby");
        task_group waiting(node_.network());
        waiting.spawn(give_up_on_drain());
        co_await (drain() || note_stop());
        waiting.cancel();
        co_await waiting.join();
        if (!stop_asked_) co_return serve_end::switching;
        manager_.tell("STOPPING=1");
        node_.log().info("Stopped; the role of the primary was not given away");
        co_return serve_end::stopped;
    }
    manager_.tell("STOPPING=1");
    node_.log().info("Stopping; a second signal stops without waiting");
    // Stopping heeds no cancellation, so this waits for it whichever ends first.
    co_await (drain() || cut_off_on_signal());
    node_.log().info("Stopped");
    co_return serve_end::stopped;
}

void served_node::announce() const {
    if (!node_.settings().is_durable())
        options_.announce("posthorn: the store is in memory and NOT DURABLE");
    const auto admin = node_.admin_url();
    for (const auto& url : node_.urls()) {
        const auto* const whom = url == admin              ? " for operators (health: /_rf/health)"
                                 : url.starts_with("http") ? " for messages (health: /_rf/health)"
                                                           : "";
        options_.announce(fmt::format("posthorn: listening on {}{}", url, whom));
    }
}

// Which files it works with, since a node that was started in the wrong folder looks healthy too.
void served_node::log_start() const {
    const auto& settings = node_.settings();
    std::error_code unusable;
    const auto file = settings.file.empty()
                          ? std::string("the defaults")
                          : std::filesystem::absolute(settings.file, unusable).string();
    node_.log().info("Node {Service} runs with {Configuration} on {Database}",
                     {{"Service", settings.service.id},
                      {"Configuration", file},
                      {"Database", settings.shown_database()}});
    const auto connections =
        static_cast<std::uint64_t>(settings.limits.connections) * node_.urls().size();
    if (connections >= open_files_max_)
        node_.log().warn(
            "The {Listeners} listeners may have {Connections} connections, but only {Files} files "
            "may "
            "be open; raise that limit (LimitNOFILE, ulimit -Hn), or lower limits.connections",
            {{"Listeners", node_.urls().size()},
             {"Connections", connections},
             {"Files", open_files_max_}});
}

/// Zero when cancelled.
task<int> served_node::next_signal() {
    const auto [failure, number] =
        co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return failure ? 0 : number;
}

/// Until a signal asks it to end.
task<> served_node::work() {
    int number = 0;
    while ((number = co_await next_signal()) == SIGHUP) co_await reload();
    stop_asked_ = number != 0;
}

task<> served_node::note_stop() {
    int number = SIGHUP;
    while (number == SIGHUP) number = co_await next_signal();
    stop_asked_ = number != 0;
}

// Not to be left half-way by the signal that ends the patience.
task<> served_node::drain() { co_await cancellable(node_.stop()); }

// A second signal asks for no more waiting, not even for a database that does not answer. To end at
// any moment, as in a crash, loses nothing.
task<> served_node::cut_off_on_signal() {
    constexpr std::chrono::seconds patience{3};
    int number = SIGHUP;
    while (number == SIGHUP) number = co_await next_signal();
    if (number == 0) co_return;
    node_.cut_off();
    if (!co_await node_.sleeper().sleep_for(patience)) co_return;
    options_.announce("posthorn: the database does not answer; ended without waiting for it");
    std::_Exit(EXIT_FAILURE);
}

/// Says nothing while the node cannot work, so that the manager starts it anew. Not so for a full
/// disk: what helps against that is room.
task<> served_node::feed_watchdog() {
    const auto interval = watchdog_interval();
    if (!manager_.has_manager() || interval.count() <= 0) {
        co_await node_.sleeper().sleep_for(std::chrono::hours{24 * 365 * 100});
        co_return;
    }
    while (co_await node_.sleeper().sleep_for(interval))
        if (node_.core().broken().empty()) manager_.tell("WATCHDOG=1");
}

task<> served_node::reload() {
    const auto now =
        std::chrono::duration_cast<std::chrono::microseconds>(clock_.steady().time_since_epoch());
    manager_.tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()));
    const auto fresh = co_await run_on(node_.readers(), [this] { return options_.read_again(); });
    const auto done = fresh ? node_.reload(*fresh) : result<>(std::unexpected(fresh.error()));
    if (!done) {
        node_.log().error(
            "Reload: the old configuration stays, since the new one is wrong: {Error}",
            {{"Error", done.error().what()}});
    } else {
        const auto waiting = keys_that_need_a_restart(node_.settings(), *fresh);
        node_.log().info("Reload: routes, secrets, certificates and admin keys are taken over");
        if (!waiting.empty())
            node_.log().warn("Reload: {Keys} changed too, which needs a restart",
                             {{"Keys", fmt::format("{}", fmt::join(waiting, ", "))}});
    }
    manager_.tell("READY=1");
}

}  // namespace

result<> serve(const config& settings, const serve_options& options) {
    if (may_change_role(settings))
        return serve_as_one_of_a_pair(settings, options, first_role::primary);
    POSTHORN_TRY(serve_once(settings, options));
    return {};
}

result<serve_end> serve_once(const config& settings, const serve_options& options) {
    const auto open_files_max = raise_open_files();
    POSTHORN_LET(node, node_runtime::open(settings, {.make_folders = true,
                                                     .may_call = false,
                                                     .findings = options.findings}));
    auto outcome = [&] {
        served_node around(*node, options, open_files_max);
        return start(node->network(), around.run()).get();
    }();
    node->stop_and_wait();
    return outcome;
}

}  // namespace posthorn
