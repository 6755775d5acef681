#include "app/node/follow.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/version.hpp>

#include "admin/gate.hpp"
#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/store/open_store.hpp"
#include "base/async/bell.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/run_on.hpp"
#include "base/async/task_group.hpp"
#include "standby/change/hand_over.hpp"
#include "standby/door/pair_credentials.hpp"
#include "standby/following.hpp"
#include "standby/standby_feature.hpp"
#include "standby/standby_settings.hpp"
#include "transport/http/router.hpp"
#include "transport/http/server.hpp"
#include "transport/unix/notify_socket.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

constexpr std::chrono::milliseconds ask_patience{1000};  // It is asked again and again.

std::string_view to_string(health_level level) {
    switch (level) {
        case health_level::green: return "green";
        case health_level::yellow: return "yellow";
        case health_level::red: break;
    }
    return "red";
}

task<http_response> given(http_response answer) { co_return answer; }

http_response not_the_primary() {
    auto answer = error_response(
        503, "not_primary",
        "this is a standby; the primary is elsewhere, and nothing is charged to the message");
    answer.headers.add("Retry-After", "1");
    return answer;
}

std::string environment_of(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value != nullptr ? value : "";
}

/// A standby as a process: its files, its listener, what operators ask it.
///
/// Lifetime: `open`, `run` once, destroy.
/// Threads:  `run` on the network executor; the copy is kept on a thread of its own.
class followed_copy {
public:
    explicit followed_copy(const config& settings)
        : settings_(settings),
          log_({.level = settings.log.level, .format = settings.log.format, .sink = {}},
               [this] { return clock_.wall(); }),
          access_({.loopback = settings.listen.admin && is_loopback(settings.listen.admin->host),
                   .keys = admin_keys_of(settings),
                   .proxy = admin_proxy_of(settings)}) {}

    result<> open();
    task<result<standby::follow_end>> run(const follow_options& options);
    [[nodiscard]] asio::any_io_executor network() { return network_.executor(); }

private:
    using handler = std::function<http_response()>;
    result<> listen_for_messages();
    task<> ask_the_other();
    void add(std::string path, handler answer);
    [[nodiscard]] http_response ask(const http_request& request, const handler& answer) const;
    [[nodiscard]] http_response health() const;
    [[nodiscard]] http_response metrics() const;
    void announce(const follow_options& options);
    task<> wait_for_signal();
    task<> feed_watchdog();
    task<> keep();
    task<> wait_for_end();

    const config settings_;
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    logger log_;
    admin_access access_;
    router routes_;
    notify_socket manager_{environment_of("NOTIFY_SOCKET")};
    io_threads network_{"posthorn-io"};
    worker_threads folds_{"posthorn-fold"};
    worker_threads keeper_{"posthorn-keep"};
    worker_threads asker_{"posthorn-ask"};
    environment env_{clock_, timer_, random_, log_, network_.executor(), folds_, folds_};
    std::unique_ptr<standby::kept_copy> copy_;
    std::optional<standby::follower> follower_;
    std::unique_ptr<http_server> admin_;
    std::unique_ptr<tls_server> certificate_;
    std::unique_ptr<http_server> messages_;
    std::string database_;
    standby::hand_over_options other_{};
    result<standby::follow_end> ended_ = standby::follow_end::stopped;
    bell over_;
};

result<> followed_copy::open() {
    const auto said = settings_of(settings_, standby_feature());
    const auto plan = plan_of(core_settings(settings_));
    POSTHORN_LET(how, standby::read_standby_settings(said));
    if (!how.listen)
        return fail(error_code::invalid_configuration,
                    "standby.listen is none; say where the primary finds this standby, such as "
                    "\"127.0.0.1:7402\"");
    if (const auto why = standby::refuse_plan(said, plan)) return std::unexpected(why->why);
    const auto& service = settings_.service.id;
    POSTHORN_LET(known, standby::read_credentials(said, service));
    POSTHORN_TRY(standby::check_credentials(known, clock_));
    database_ = plan.file.string();
    POSTHORN_TRY(make_folder_of(database_));
    POSTHORN_LET(copy, standby::kept_copy::open(plan.file));
    copy_ = std::move(copy);
    auto follower = standby::follower::open(
        {.listen = *how.listen,
         .access = access_with(known, standby::link_end::standby, clock_),
         .service = service,
         .can_lead = how.can_switch()},
        {.copy = *copy_, .folds = folds_, .random = random_, .log = log_, .time = clock_});
    if (!follower) return std::unexpected(settings_.at_key("standby.listen", follower.error()));
    follower_.emplace(*std::move(follower));
    if (how.to)
        other_ = {.database = plan.file,
                  .to = *how.to,
                  .access = access_with(known, standby::link_end::primary, clock_),
                  .service = service,
                  .patience = std::min(how.patience, ask_patience)};
    POSTHORN_TRY(listen_for_messages());
    if (!settings_.listen.admin) return {};
    add("/_rf/standby",
        [this] { return json_response(200, json::serialize(to_json(follower_->report()))); });
    add("/_rf/health", [this] { return health(); });
    add("/metrics", [this] { return metrics(); });
    auto admin = http_server::listen(
        *settings_.listen.admin,
        {.env = env_,
         .handler = [this](http_request request) { return routes_.handle(std::move(request)); },
         .limits = limits_of(settings_)});
    if (!admin) return std::unexpected(settings_.at_key("listen.admin", admin.error()));
    admin_ = *std::move(admin);
    return {};
}

// Those who have an address of each of the two find out at once that this one is not the primary;
// the others come again when this one is.
result<> followed_copy::listen_for_messages() {
    if (!settings_.listen.http) return {};
    if (!settings_.tls.certificate.empty()) {
        auto loaded = tls_server::load(server_files_of(settings_), clock_);
        if (!loaded) return std::unexpected(settings_.at_key("tls.certificate", loaded.error()));
        certificate_ = *std::move(loaded);
    }
    auto made = http_server::listen(
        *settings_.listen.http,
        {.env = env_,
         .handler = [](const http_request&) { return given(not_the_primary()); },
         .limits = limits_of(settings_),
         .tls = certificate_.get(),
         .refuses = [](const http_request&) { return std::optional(not_the_primary()); }});
    if (!made) return std::unexpected(settings_.at_key("listen.http", made.error()));
    messages_ = *std::move(made);
    return {};
}

// There is no audit: nothing can be changed here.
void followed_copy::add(std::string path, handler answer) {
    routes_.add("GET", std::move(path),
                [this, answer = std::move(answer)](const http_request& request) {
                    return given(ask(request, answer));
                });
}

http_response followed_copy::ask(const http_request& request, const handler& answer) const {
    const auto caller = access_.admit(request, admin_role::viewer);
    if (!caller)
        return error_response(caller.error().status, describe(error_code::access_denied).name,
                              caller.error().why);
    auto response = answer();
    response.headers.add("X-Content-Type-Options", "nosniff");
    response.headers.add("Cache-Control", "no-store");
    return response;
}

http_response followed_copy::health() const {
    auto worst = health_level::green;
    json::array reasons;
    for (const auto& each : worries_of(follower_->report())) {
        worst = std::max(worst, each.how);
        reasons.emplace_back(each.what);
    }
    return json_response(200, json::serialize(json::object{{"status", to_string(worst)},
                                                           {"working", true},
                                                           {"reasons", std::move(reasons)},
                                                           {"service", settings_.service.id},
                                                           {"version", version},
                                                           {"durable", true},
                                                           {"role", "standby"}}));
}

http_response followed_copy::metrics() const {
    prometheus_text text;
    write_metrics(text, follower_->report());
    http_response response;
    response.body = text.take();
    response.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    return response;
}

void followed_copy::announce(const follow_options& options) {
    const auto said = settings_of(settings_, standby_feature());
    auto at = *parse_link_place(said.get<std::string>("listen"));
    at.port = follower_->port();
    options.announce(fmt::format("posthorn: standby on {} for its primary", to_string(at)));
    if (admin_)
        options.announce(
            fmt::format("posthorn: listening on {} for operators (health: "
                        "/_rf/health)",
                        admin_->url()));
    const auto state = copy_->state();
    log_.info("Standby of {Service} keeps {Database}, which is {Phase}, epoch {Epoch}",
              {{"Service", settings_.service.id},
               {"Database", database_},
               {"Phase", to_string(state.phase)},
               {"Epoch", state.epoch}});
}

task<> followed_copy::wait_for_signal() {
    asio::signal_set signals(network_.executor(), SIGINT, SIGTERM);
    co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

task<> followed_copy::feed_watchdog() {
    constexpr std::chrono::seconds often{10};
    while (co_await timer_.sleep_for(often)) manager_.tell("WATCHDOG=1");
}

task<> followed_copy::keep() {
    ended_ = co_await run_on(keeper_, [this] { return follower_->run(); });
    over_.ring();
}

// One that gave its role away and died before it knew what came of it.
task<> followed_copy::ask_the_other() {
    constexpr std::chrono::milliseconds often{200};
    while (other_.access.keys && copy_->state().phase == standby::standby_phase::handing) {
        const auto handing = copy_->state();
        const auto became = co_await run_on(asker_, [&] {
            return standby::ask_what_became(other_, handing, {other_.access, random_, clock_});
        });
        if (became == standby::handing_end::not_taken) {
            if (const auto back = follower_->take_back(); !back)
                log_.error("Standby: the role cannot be taken back: {Error}",
                           {{"Error", back.error().what()}});
            co_return;
        }
        if (!co_await timer_.sleep_for(often)) co_return;
    }
}

task<> followed_copy::wait_for_end() { static_cast<void>(co_await over_.wait()); }

task<result<standby::follow_end>> followed_copy::run(const follow_options& options) {
    using namespace asio::experimental::awaitable_operators;
    if (admin_) admin_->start();
    if (messages_) messages_->start();
    announce(options);
    manager_.tell("READY=1");
    task_group keeping(network_.executor());
    task_group asking(network_.executor());
    keeping.spawn(keep());
    asking.spawn(ask_the_other());
    co_await (wait_for_signal() || wait_for_end() || feed_watchdog());
    follower_->stop();
    asking.cancel();
    co_await keeping.join();
    co_await asking.join();
    if (ended_ && *ended_ == standby::follow_end::stopped) manager_.tell("STOPPING=1");
    if (messages_) co_await messages_->stop(std::chrono::milliseconds{50});
    if (admin_) co_await admin_->stop(std::chrono::milliseconds{50});
    log_.info("Stopped");
    co_return ended_;
}

}  // namespace

result<standby::follow_end> follow(const config& settings, const follow_options& options) {
    followed_copy one(settings);
    POSTHORN_TRY(one.open());
    return start(one.network(), one.run(options)).get();
}

}  // namespace posthorn
