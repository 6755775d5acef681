#include "app/node/listeners.hpp"

#include <utility>

#include <posthorn/version.hpp>

#include "admin/admin_api.hpp"
#include "admin/session_routes.hpp"
#include "app/config/core_settings.hpp"
#include "app/transports.hpp"
#include "base/async/task_group.hpp"
#include "desk/desk_routes.hpp"
#include "feature/metrics_source.hpp"
#include "message/metadata.hpp"
#include "operations/intake_health.hpp"
#include "security/hex.hpp"
#include "transport/http/receive_routes.hpp"
#include "transport/http/server.hpp"

namespace posthorn {
namespace {

/// Texts in these answers were chosen by peers and handlers: no browser may take one for anything
/// but what it is said to be, nor keep it.
task<http_response> answer_operator(const router& routes, http_request request) {
    auto response = co_await routes.handle(std::move(request));
    response.headers.add("X-Content-Type-Options", "nosniff");
    // The files of the desk have names that change with what is in them.
    if (!response.headers.find("Cache-Control")) response.headers.add("Cache-Control", "no-store");
    co_return response;
}

/// Several nodes of a machine, or of a service, must not take each other's cookies for their own;
/// after a restart it is the same.
std::string cookie_name(std::string_view service, std::string_view url) {
    constexpr std::size_t characters = 12;
    return "posthorn_" + to_hex(sha256_of({service, "\n", url})).substr(0, characters);
}

}  // namespace

listeners::listeners(const config& settings, deps with) : settings_(settings), with_(with) {}

result<std::unique_ptr<listeners>> listeners::open(const config& settings, deps with) {
    std::unique_ptr<listeners> made(new listeners(settings, with));
    if (!settings.tls.certificate.empty()) {
        auto loaded = tls_server::load(server_files_of(settings), with.seams.env.clock);
        if (!loaded) return std::unexpected(settings.at_key("tls.certificate", loaded.error()));
        made->tls_ = *std::move(loaded);
    }
    POSTHORN_TRY(made->bind());
    return made;
}

// In the order in which they are told: HTTP for peers, HTTP for operators, then the other transports.
result<> listeners::bind() {
    for (const auto& kind : all_transports()) {
        if (auto at = listen_place_of(settings_, kind.listen_key))
            POSTHORN_TRY(bind(kind, *std::move(at)));
        if (kind.listen_key == "http" && settings_.listen.admin)
            POSTHORN_TRY(bind_admin(*settings_.listen.admin));
    }
    return {};
}

result<> listeners::bind(const transport_kind& kind, listen_place at) {
    const auto limits = limits_of(settings_);
    const auto certificate = tls_ ? server_files_of(settings_) : tls_files{};
    auto made = kind.listen(
        {.env = with_.seams.env,
         .at = std::move(at),
         .messages = [this](wire_request request) { return wire_->answer(std::move(request)); },
         .http = [this](http_request request) { return public_routes_.handle(std::move(request)); },
         .refuses = [this](const http_request& head) -> std::optional<http_response> {
             return wire_ ? refuse_by_head(*wire_, head) : std::nullopt;
         },
         .limits = limits,
         .tls = tls_.get(),
         .certificate = certificate});
    if (!made)
        return std::unexpected(
            settings_.at_key(fmt::format("listen.{}", kind.listen_key), made.error()));
    all_.push_back(*std::move(made));
    return {};
}

result<> listeners::bind_admin(const host_port& address) {
    const auto& env = with_.seams.env;
    auto made = http_server::listen(address, {.env = env,
                                              .handler =
                                                  [this](http_request request) {
                                                      return answer_operator(admin_routes_,
                                                                             std::move(request));
                                                  },
                                              .limits = limits_of(settings_)});
    if (!made) return std::unexpected(settings_.at_key("listen.admin", made.error()));
    admin_ = made->get();
    all_.push_back(*std::move(made));
    return {};
}

void listeners::fill_routes() {
    auto& core = with_.core;
    const auto& seams = with_.seams;
    if (core.inbox() != nullptr) {
        wire_ = std::make_unique<wire_server>(
            wire_server_deps{*core.inbox(), with_.keys, seams.env.clock, seams.env.log},
            wire_options_of(settings_));
        core.ask_for_health([this] {
            const auto since = with_.seams.env.clock.wall() - failure_remembered;
            return judge_intake({}, wire_->distrusted().list(since));
        });
    }
    std::vector<store*> stores;
    for (auto* const each : core.databases()) stores.push_back(&each->store());
    auto metrics = core.features().metrics;
    metrics.push_back([this](prometheus_text& text) { live_->write_metrics(text); });
    view_ = std::make_unique<node_view>(node_view_deps{
        .service = settings_.service.id,
        .version = std::string(version),
        .stores = std::move(stores),
        .readers = seams.env.readers,
        .time = seams.env.clock,
        .counters = core.counters(),
        .inbox = [&core] { return core.inbox(); },
        .broken = [&core] { return core.not_working(); },
        .worries = [&core] { return core.worries(); },
        .backups = [&core] { return core.backups(); },
        .wake = [&core] { core.wake(); },
        .try_now = [&core](std::string_view destination) { core.try_now(destination); },
        .bad_signatures = [this] { return wire_ ? wire_->counts().bad_signatures : 0; },
        .refused = &with_.refused,
        .store_report =
            [this, &core] {
                auto report = report_on_store(settings_, view_->parts().stores, core.backups());
                if (with_.findings)
                    report.findings = with_.findings(settings_, with_.seams.env.clock);
                return report;
            },
        .keys =
            [this] {
                return key_report{.admin = access_->known(),
                                  .peers = with_.keys.all(),
                                  .now = with_.seams.env.clock.wall()};
            },
        .metrics = std::move(metrics),
        .durable = core.is_durable(),
        .sleeper = &seams.env.timer});
    const bool loopback = settings_.listen.admin && is_loopback(settings_.listen.admin->host);
    sessions_ = std::make_unique<admin_sessions>(seams.env.random, seams.env.clock);
    access_ = std::make_unique<admin_access>(
        admin_access::options{.loopback = loopback,
                              .keys = admin_keys_of(settings_),
                              .proxy = admin_proxy_of(settings_),
                              .sessions = sessions_.get(),
                              .cookie_name = cookie_name(settings_.service.id, admin_url())});
    audit_ = std::make_unique<audit>(core.store(), seams.env.clock, seams.env.log);
    gate_ = std::make_unique<key_gate>(*access_, *audit_);
    if (wire_) add_receive_routes(public_routes_, *wire_);
    add_public_routes(public_routes_, *view_);
    admin_surface surface(admin_routes_, *gate_);
    add_admin_routes(surface, *view_);
    add_session_routes(surface, {*access_, *sessions_, *audit_, seams.env.clock, seams.env.log});
    for (const auto& each : core.features().admin_routes) surface.add(each);
    live_ = std::make_unique<live_feed>(*view_, seams.env.timer);
    add_live_route(surface, *live_);
    add_index(surface, settings_.service.id);
    add_desk_routes(admin_routes_);
    if (auto* const wanted = core.features().find<metrics_source>())
        wanted->read = [this] { return node_metrics(*view_, gate_->refusals()); };
    for (const auto& each : core.features().public_routes)
        public_routes_.add(each.method, each.path, each.answer);
}

namespace {

task<http_response> answer_with(std::string json) { co_return json_response(200, std::move(json)); }

}  // namespace

/// What it offers, for those who write a service that uses it.
void listeners::publish_contracts() {
    auto& registry = with_.core.registry();
    service_metadata about{.service = settings_.service.id,
                           .version = std::string(version),
                           .contracts = {},
                           .endpoints = registry.endpoints()};
    for (const auto& each : registry.offered()) {
        if (!each.contract.empty()) about.contracts.push_back(each.contract);
        with_.seams.env.log.info(each.endpoints.size() == 1
                                     ? "Offers {Interface} with {Messages} message"
                                     : "Offers {Interface} with {Messages} messages",
                                 {{"Interface", each.name}, {"Messages", each.endpoints.size()}});
    }
    public_routes_.add(
        "GET", "/_workflow/metadata",
        [text = render_metadata(about)](const http_request&) { return answer_with(text); });
}

void listeners::warn_if_exposed() const {
    auto& log = with_.seams.env.log;
    const auto& listen = settings_.listen;
    if (listen.http && !is_loopback(listen.http->host) && !tls_)
        log.warn(
            "Listening on {Address} without TLS: anyone on the way can read the messages; set "
            "tls.certificate and tls.key, or leave TLS to a proxy",
            {{"Address", to_string(*listen.http)}});
    if (listen.admin && !is_loopback(listen.admin->host))
        log.warn("The admin listener is on {Address}, which others can reach; put it on 127.0.0.1",
                 {{"Address", to_string(*listen.admin)}});
}

void listeners::start() {
    fill_routes();
    publish_contracts();
    for (const auto& each : all_) {
        each->ask_for_files_of([this] { return free_files(); });
        each->start();
    }
    warn_if_exposed();
}

// More than the one that is wanted, so that the stores and the connections to others get some too.
bool listeners::free_files() {
    constexpr int enough = 16;
    int freed = 0;
    for (const auto& each : all_)
        while (freed < enough && each->give_way()) ++freed;
    return freed > 0;
}

// All at once: one after the other would wait several times as long.
task<> listeners::stop(std::chrono::milliseconds patience) {
    task_group stopping(with_.seams.env.network);
    for (const auto& each : all_) stopping.spawn(each->stop(patience));
    co_await stopping.join();
}

void listeners::cut_off() {
    for (const auto& each : all_) each->cut_off();
}

result<> listeners::reload_certificate() { return tls_ ? tls_->reload() : result<>{}; }

void listeners::replace_admin_keys(std::vector<admin_key> keys, admin_proxy proxy) {
    if (access_) access_->replace(std::move(keys), std::move(proxy));
}

std::string listeners::admin_url() const { return admin_ ? admin_->url() : std::string{}; }

std::vector<std::string> listeners::urls() const {
    std::vector<std::string> all;
    for (const auto& each : all_) all.push_back(each->url());
    return all;
}

}  // namespace posthorn
