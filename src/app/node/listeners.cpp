#include "app/node/listeners.hpp"

#include <filesystem>
#include <utility>

#include <posthorn/version.hpp>

#include "admin/admin_api.hpp"
#include "app/config/core_settings.hpp"
#include "base/async/task_group.hpp"
#include "message/metadata.hpp"
#include "transport/http/receive_routes.hpp"
#include "transport/pipe/pipe_path.hpp"

namespace posthorn {
namespace {

/// Texts in these answers were chosen by peers and handlers: no browser may take one for anything
/// but what it is said to be, nor keep it.
task<http_response> answer_operator(const router& routes, http_request request) {
    auto response = co_await routes.handle(std::move(request));
    response.headers.add("X-Content-Type-Options", "nosniff");
    response.headers.add("Cache-Control", "no-store");
    co_return response;
}

tls_files tls_files_of(const config& settings) {
    return {.certificate = settings.path_of(settings.tls.certificate),
            .key = settings.path_of(settings.tls.key),
            .peer_authority = settings.tls.mutual ? settings.path_of(settings.tls.authority) : ""};
}

}  // namespace

listeners::listeners(const config& settings, parts with) : settings_(settings), with_(with) {}

result<std::unique_ptr<listeners>> listeners::open(const config& settings, parts with) {
    std::unique_ptr<listeners> made(new listeners(settings, with));
    if (!settings.tls.certificate.empty()) {
        auto loaded = tls_server::load(tls_files_of(settings), with.seams.env.clock);
        if (!loaded) return std::unexpected(settings.at_key("tls.certificate", loaded.error()));
        made->tls_ = *std::move(loaded);
    }
    POSTHORN_TRY(made->bind());
    return made;
}

result<> listeners::bind_http(std::string_view key, const host_port& address, const router& routes,
                              const tls_server* tls) {
    const auto& seams = with_.seams;
    const bool for_operators = &routes == &admin_routes_;
    auto server = http_server::listen(
        address, {.where = seams.env.network,
                  .time = seams.env.timer,
                  .log = seams.env.log,
                  .handler =
                      [&routes, for_operators](http_request request) {
                          return for_operators ? answer_operator(routes, std::move(request))
                                               : routes.handle(std::move(request));
                      },
                  .limits = limits_of(settings_),
                  .tls = tls});
    if (!server) return std::unexpected(settings_.at_key(key, server.error()));
    http_.emplace_back(*std::move(server), tls != nullptr);
    return {};
}

result<> listeners::bind() {
    const auto& listen = settings_.listen;
    if (listen.http)
        POSTHORN_TRY(bind_http("listen.http", *listen.http, public_routes_, tls_.get()));
    if (listen.admin)
        POSTHORN_TRY(bind_http("listen.admin", *listen.admin, admin_routes_, nullptr));
    // They have nothing but messages to take.
    return settings_.service.parts == node_parts::outbox ? result<>{} : bind_sockets();
}

result<> listeners::bind_sockets() {
    if (const auto& socket = settings_.listen.unix_socket; !socket.empty()) {
        // In full, for whoever copies it into a route.
        std::error_code ignored;
        const std::filesystem::path written = settings_.path_of(socket);
        const auto whole = std::filesystem::absolute(written, ignored);
        auto server = bind_socket(ignored ? written.string() : whole.lexically_normal().string(),
                                  socket_folder::closed);
        if (!server) return std::unexpected(settings_.at_key("listen.unix", server.error()));
        unix_ = *std::move(server);
    }
    if (const auto name = settings_.pipe_name(); !name.empty()) {
        const auto path = pipe_path(name);
        if (!path) return std::unexpected(settings_.at_key("listen.pipe", path.error()));
        auto server = bind_socket(*path, socket_folder::shared);
        if (!server) return std::unexpected(settings_.at_key("listen.pipe", server.error()));
        pipe_ = *std::move(server);
    }
    return settings_.listen.grpc ? bind_grpc() : result<>{};
}

result<> listeners::bind_grpc() {
    const auto& seams = with_.seams;
    auto server = grpc_server::listen(
        *settings_.listen.grpc,
        {.where = seams.env.network,
         .time = seams.env.timer,
         .log = seams.env.log,
         .workers = seams.env.workers,
         .handler = [this](wire_request request) { return wire_->answer(std::move(request)); },
         .limits = limits_of(settings_),
         .tls = settings_.tls.certificate.empty() ? tls_files{} : tls_files_of(settings_)});
    if (!server) return std::unexpected(settings_.at_key("listen.grpc", server.error()));
    grpc_ = *std::move(server);
    return {};
}

result<std::unique_ptr<unix_server>> listeners::bind_socket(const std::string& path,
                                                            socket_folder folder) {
    const auto& seams = with_.seams;
    return unix_server::listen(
        path,
        {.where = seams.env.network,
         .time = seams.env.timer,
         .log = seams.env.log,
         .handler = [this](wire_request request) { return wire_->answer(std::move(request)); },
         .limits = limits_of(settings_),
         .folder = folder});
}

void listeners::fill_routes() {
    auto& core = with_.core;
    const auto& seams = with_.seams;
    if (core.inbox() != nullptr)
        wire_ = std::make_unique<wire_server>(
            wire_server_parts{*core.inbox(), with_.keys, seams.env.clock, seams.env.log},
            wire_options_of(settings_));
    std::vector<store*> stores{&core.store()};
    if (&core.inbox_store() != &core.store()) stores.push_back(&core.inbox_store());
    view_ = std::make_unique<node_view>(
        admin_parts{.service = settings_.service.id,
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
                    .bad_signatures = [this] { return wire_ ? wire_->counts().bad_signatures : 0; },
                    .metrics = core.features().metrics,
                    .durable = core.is_durable()});
    const bool loopback = settings_.listen.admin && is_loopback(settings_.listen.admin->host);
    access_ = std::make_unique<admin_access>(
        admin_access::options{.loopback = loopback, .keys = admin_keys_of(settings_)});
    audit_ = std::make_unique<audit>(core.store(), seams.env.clock, seams.env.log);
    gate_ = std::make_unique<key_gate>(*access_, *audit_);
    if (wire_) add_receive_routes(public_routes_, *wire_);
    add_public_routes(public_routes_, *view_);
    add_admin_routes(admin_routes_, *view_, *gate_);
    for (const auto& each : core.features().admin_routes)
        admin_routes_.add(each.method, each.path, gate_->guarded(each.needs, each.answer));
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
        with_.seams.env.log.info("Offers {Interface} with {Messages} messages",
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
            "Listening on {Address} without TLS: whoever is on the way can read the messages; set "
            "tls.certificate and tls.key, or leave TLS to a proxy",
            {{"Address", to_string(*listen.http)}});
    if (listen.admin && !is_loopback(listen.admin->host))
        log.warn("The admin listener is on {Address}, which others can reach; put it on 127.0.0.1",
                 {{"Address", to_string(*listen.admin)}});
}

void listeners::start() {
    fill_routes();
    publish_contracts();
    for (const auto& [server, has_tls] : http_) server->start();
    if (unix_) unix_->start();
    if (pipe_) pipe_->start();
    if (grpc_) grpc_->start();
    warn_if_exposed();
}

// All at once: one after the other would wait several times as long.
task<> listeners::stop(std::chrono::milliseconds patience) {
    task_group stopping(with_.seams.env.network);
    for (const auto& [server, has_tls] : http_) stopping.spawn(server->stop(patience));
    if (unix_) stopping.spawn(unix_->stop(patience));
    if (pipe_) stopping.spawn(pipe_->stop(patience));
    if (grpc_) stopping.spawn(grpc_->stop(patience));
    co_await stopping.join();
}

void listeners::cut_off() {
    for (const auto& [server, has_tls] : http_) server->cut_off();
    if (unix_) unix_->cut_off();
    if (pipe_) pipe_->cut_off();
    if (grpc_) grpc_->cut_off();
}

result<> listeners::reload_certificate() { return tls_ ? tls_->reload() : result<>{}; }

void listeners::replace_admin_keys(std::vector<admin_key> keys) {
    if (access_) access_->replace(std::move(keys));
}

std::vector<listeners::place> listeners::places() const {
    std::vector<place> all;
    for (const auto& [server, has_tls] : http_)
        all.push_back(
            {fmt::format("{}://{}", has_tls ? "https" : "http", to_string(server->address()))});
    if (unix_) all.push_back({"unix://" + unix_->path(), false});
    if (pipe_) all.push_back({"pipe://" + settings_.pipe_name(), false});
    if (grpc_)
        all.push_back(
            {fmt::format("{}://{}", tls_ ? "grpcs" : "grpc", to_string(grpc_->address())), false});
    return all;
}

}  // namespace posthorn
