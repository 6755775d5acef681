#include "app/config/core_settings.hpp"

#include <utility>

#include "app/config/feature_keys.hpp"
#include "app/features.hpp"
#include "app/transports.hpp"

namespace posthorn {
namespace {

std::optional<std::size_t> size_of(const std::optional<std::int64_t>& number) {
    if (!number) return std::nullopt;
    return static_cast<std::size_t>(*number);
}

/// As `private_text_at` reads it.
std::string place_of(const config& settings, const std::optional<secret_setting>& secret) {
    if (!secret) return {};
    if (secret->where == secret_setting::kind::environment) return "env:" + secret->name;
    return "file:" + settings.path_of(std::filesystem::path(secret->name));
}

core_route route_of(const config& settings, const route_setting& setting) {
    core_route route(setting.url);
    route.connections = setting.connections;
    route.timeout = setting.timeout.value_or(settings.outbox.request_timeout);
    route.limits = {.window = size_of(setting.window),
                    .batch = size_of(setting.batch),
                    .rate = setting.rate,
                    .burst = setting.burst,
                    .timeout = setting.timeout};
    route.origin = setting.origin;
    route.options = setting.options;
    route.password = place_of(settings, setting.password);
    if (const auto* const kind = transport_of(setting.url))
        route.limits.probe_pause_max = kind->probe_pause_max;
    return route;
}

// Where nothing is kept a sync keeps nothing.
sqlite::synchronous sync_of(const database_url& url, const config& settings) {
    return url.in_memory ? sqlite::synchronous::off : settings.store.synchronous;
}

}  // namespace

core_options core_settings(const config& settings) {
    const auto& out = settings.outbox;
    core_options core{
        .database = {.path = settings.path_of(settings.store.url),
                     .service = settings.service.id,
                     .sync = sync_of(settings.store.url, settings),
                     .shared = settings.store.shared,
                     .limits = message_limits_of(settings),
                     .defaults = row_defaults_of(settings),
                     .above = tables_of_features(),
                     .disk = {.low_water = settings.store.disk_low_water.bytes,
                              .ballast = settings.store.ballast.bytes}},
        .sending = {.source = settings.service.id,
                    .expires_in = out.message_ttl,
                    .max_retries = static_cast<std::int32_t>(out.max_retries),
                    .limits = message_limits_of(settings),
                    .serializer = {},
                    .may_send = settings.service.parts != node_parts::inbox},
        .parts = settings.service.parts,
        .durable = settings.is_durable(),
        .retries = retries_of(settings),
        .routes = routes_of(settings),
        .default_route = default_route_of(settings),
    };
    if (settings.store.url.on_server) {
        core.server = server_database{std::exchange(core.database.path, {}), settings.store.schema,
                                      static_cast<std::size_t>(settings.store.transactions)};
    }
    core.outbox.poll_interval = out.poll_interval;
    core.outbox.order.policy = out.order;
    core.outbox.tenant = out.tenant;
    if (const auto timer = cron::parse(out.timer)) {  // It was checked; without fields it is none.
        core.outbox.timer = *timer;
        core.outbox.round_rows = static_cast<std::size_t>(out.timer_batch);
    }
    core.outbox.lane.batch_rows = static_cast<std::size_t>(out.batch_size);
    core.outbox.lane.batches_in_flight_max = static_cast<std::size_t>(out.window);
    core.outbox.lane.rate = {.per_second = out.rate, .burst = out.burst};
    core.outbox.lane.attempt_timeout = out.attempt_timeout;
    core.outbox.drain_time = out.drain_timeout;
    core.cleanup = settings.store.cleanup;
    core.retention.sent = out.sent_retention;
    core.retention.interval = out.cleanup_interval;
    core.retention.dead = out.dead_retention;
    core.outbox.judge.keeps_dead = out.dead_letters;
    core.outbox.expiry.dead_too = out.expire_dead;
    core.retention.expired = out.expired_retention;
    core.retention.resolved = out.resolved_retention;
    core.retention.changes = settings.store.changes_retention;
    core.retention.vacuum = settings.store.vacuum;
    core.inbox.intake.horizon.retention = settings.inbox.retention;
    core.inbox.intake.response_size_max = settings.limits.payload.bytes;
    core.inbox.purge.interval = settings.inbox.cleanup_interval;
    if (!settings.backup.folder.empty())
        core.backup = sqlite::backup_plan{.folder = settings.path_of(settings.backup.folder),
                                          .every = settings.backup.every,
                                          .keep = settings.backup.keep};
    if (settings.store.inbox_url) {
        core.inbox_database = core.database;
        core.inbox_database->path = settings.path_of(*settings.store.inbox_url);
        core.inbox_database->sync = sync_of(*settings.store.inbox_url, settings);
    }
    for (const auto* const each : all_features())
        core.features.push_back({.what = each,
                                 .settings = settings_of(settings, *each),
                                 .endpoints = endpoints_of(settings, each->handler_word())});
    return core;
}

store_plan plan_of(const core_options& core) {
    return {.file = core.database.path,
            .service = core.database.service,
            .on_server = core.server.has_value(),
            .in_memory = !core.durable,
            .has_own_inbox = core.inbox_database.has_value(),
            .has_inbox = core.parts != node_parts::outbox,
            .syncs_commits = core.database.sync == sqlite::synchronous::full};
}

retry_policy retries_of(const config& settings) {
    const auto& out = settings.outbox;
    if (out.retry == retry_kind::fixed) return retry_policy(fixed_backoff{out.retry_delay_base});
    return retry_policy(exponential_backoff{.base = out.retry_delay_base,
                                            .max = out.retry_delay_max,
                                            .jitter_max = out.jitter_max,
                                            .jitter_factor = out.jitter_factor});
}

core_routes routes_of(const config& settings) {
    core_routes routes;
    for (const auto& [destination, route] : settings.routes)
        routes.emplace(destination, route_of(settings, route));
    return routes;
}

std::optional<core_route> default_route_of(const config& settings) {
    if (!settings.default_route) return std::nullopt;
    return route_of(settings, *settings.default_route);
}

http_limits limits_of(const config& settings) {
    const auto& limits = settings.limits;
    return {.body_bytes_max = limits.body.bytes,
            .header_bytes_max = limits.headers.bytes,
            .connections_max = static_cast<std::size_t>(limits.connections),
            .unknown_body_bytes_max = limits.unknown_bodies.bytes,
            .header_timeout = limits.header_timeout,
            .idle_timeout = limits.idle_timeout};
}

message_limits message_limits_of(const config& settings) {
    const auto& limits = settings.limits;
    return {.payload_size_max = limits.payload.bytes,
            .headers_size_max = limits.message_headers.bytes,
            .name_size_max = static_cast<std::size_t>(limits.name),
            .text_size_max = static_cast<std::size_t>(limits.text),
            .depth_max = static_cast<std::size_t>(limits.depth)};
}

row_defaults row_defaults_of(const config& settings) {
    return {.max_retries = settings.outbox.max_retries, .expires_in = settings.outbox.message_ttl};
}

wire_server_options wire_options_of(const config& settings) {
    return {.service = settings.service.id,
            .urls = settings.service_urls(),
            .messages_max = static_cast<std::size_t>(settings.limits.messages_in_batch),
            .requests_at_work_max = static_cast<std::size_t>(settings.limits.requests_at_work),
            .limits = message_limits_of(settings)};
}

std::vector<feature_endpoint> endpoints_of(const config& settings, std::string_view word) {
    std::vector<feature_endpoint> all;
    const auto add = [&](const auto& section, bool responses) {
        for (const auto& [endpoint, setting] : section)
            if (setting.what == handler_setting::kind::feature && setting.text == word)
                all.push_back({endpoint, responses, setting.limit, setting.lease});
    };
    add(settings.handlers, false);
    add(settings.responses, true);
    return all;
}

std::vector<admin_key> admin_keys_of(const config& settings) {
    std::vector<admin_key> keys;
    for (const auto& each : settings.admin.keys) {
        const auto role = parse_admin_role(each.role);
        const auto hash = parse_key_hash(each.hash);
        // Both were checked when the file was read.
        if (role && hash)
            keys.push_back({.name = each.name,
                            .role = *role,
                            .hash = *hash,
                            .rights = {.payloads = each.payloads, .secrets = each.secrets},
                            .made = each.made});
    }
    return keys;
}

admin_proxy admin_proxy_of(const config& settings) {
    const auto& admin = settings.admin;
    admin_proxy proxy{.secret = parse_key_hash(admin.proxy_secret),
                      .user_header = admin.proxy_user_header};
    for (const auto& each : admin.proxy_users)
        if (const auto role = parse_admin_role(each.role))  // Checked when the file was read.
            proxy.users.push_back(
                {each.name, *role, {.payloads = each.payloads, .secrets = each.secrets}});
    return proxy;
}

tls_files server_files_of(const config& settings) {
    return {.certificate = settings.path_of(settings.tls.certificate),
            .key = settings.path_of(settings.tls.key),
            .peer_authority = settings.tls.mutual ? settings.path_of(settings.tls.authority) : ""};
}

tls_files client_files_of(const config& settings) {
    if (!settings.tls.mutual) return {};
    return {.certificate = settings.path_of(settings.tls.certificate),
            .key = settings.path_of(settings.tls.key)};
}

std::optional<listen_place> listen_place_of(const config& settings, std::string_view key) {
    const auto& listen = settings.listen;
    if (key == "http" && listen.http) return listen_place{.address = *listen.http};
    // The others have nothing but messages to take.
    if (settings.service.parts == node_parts::outbox) return std::nullopt;
    if (key == "grpc" && listen.grpc) return listen_place{.address = *listen.grpc};
    if (key == "unix" && !listen.unix_socket.empty())
        return listen_place{.path = settings.path_of(listen.unix_socket)};
    if (key == "pipe" && !listen.pipe.empty()) return listen_place{.path = settings.pipe_name()};
    return std::nullopt;
}

}  // namespace posthorn
