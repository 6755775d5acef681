#include "app/node/node_config.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/config/config_type.hpp"
#include "app/config/mutual_check.hpp"
#include "app/config/route_url.hpp"

namespace posthorn {
namespace {

constexpr std::string_view in_memory = "memory:";

/// Without a file nothing listens and few lines are written.
config bare() {
    config settings;
    settings.listen.http.reset();
    settings.listen.admin.reset();
    return settings;
}

void set(config& settings, std::string_view key, const config_value& value) {
    value_or_throw(set_config(settings, key, value, "node_options"));
}

void set_level(config& settings, const std::string& written) {
    const auto level = config_type<log_level>::read(written);
    if (!level)
        throw error(error_code::invalid_argument,
                    "log_level is one of trace, debug, info, warn, error, not '" + written + "'");
    settings.log.level = *level;
}

/// As the code means it, whatever folder a configuration lies in.
std::string path_in_code(const config& settings, const std::string& written) {
    if (written.empty() || settings.folder.empty()) return written;
    return std::filesystem::absolute(written).string();
}

void check_numbers(const node_options& options) {
    const auto refuse = [](std::string_view name, std::string_view rule) {
        throw error(error_code::invalid_argument, fmt::format("{} {}", name, rule));
    };
    const auto check = [&](std::string_view name, std::chrono::milliseconds time) {
        if (time < time.zero()) refuse(name, "is below zero; give a time to wait");
    };
    const auto& retry = options.retry;
    if (const auto* const exponential = std::get_if<exponential_backoff>(&retry.backoff)) {
        check("exponential_backoff::base", exponential->base);
        check("exponential_backoff::max", exponential->max);
        check("exponential_backoff::jitter_max", exponential->jitter_max);
        if (!(exponential->jitter_factor >= 0 && exponential->jitter_factor <= 1))
            refuse("exponential_backoff::jitter_factor",
                   "is not from 0 to 1, which is all of the pause either way");
    } else if (const auto* const fixed = std::get_if<fixed_backoff>(&retry.backoff)) {
        check("fixed_backoff::delay", fixed->delay);
    } else if (!std::get<custom_backoff>(retry.backoff)) {
        refuse("retry.backoff", "is an empty function; give one, or a backoff");
    }
    if (retry.retries_max < retry_for_ever)
        refuse("retry.retries_max", "is below -1, which means until the message expires");
    if (options.message_ttl <= options.message_ttl.zero())
        refuse("message_ttl", "is not above zero, so every message would have expired");
}

void set_databases(config& settings, const node_options& options) {
    const auto path = [&](const std::string& written) { return path_in_code(settings, written); };
    const auto url = [&](const std::string& written) {
        if (is_server_url(written)) return database_url{.path = written, .on_server = true};
        if (written == in_memory) return database_url{.path = {}, .in_memory = true};
        value_or_throw(require_path(written));
        return database_url{path(written)};
    };
    const auto& store = options.store;
    settings.store.url = url(store.database);
    settings.store.schema = store.schema;
    settings.store.transactions = store.transactions;
    settings.store.inbox_url.reset();
    if (!store.inbox_database.empty()) settings.store.inbox_url = url(store.inbox_database);
    settings.store.synchronous =
        store.synchronous_full ? sqlite::synchronous::full : sqlite::synchronous::normal;
    settings.store.shared = store.shared;
}

void set_routes(config& settings, const node_options& options) {
    const auto is_own = [&](std::string_view url) {
        return options.transports.contains(url.substr(0, url.find(':')));
    };
    for (const auto& [destination, url] : options.routes) {
        if (is_own(url))
            settings.routes.insert_or_assign(destination, route_setting{.url = url});
        else
            set(settings, "routes." + destination, url);
    }
    if (is_own(options.default_route))
        settings.default_route = route_setting{.url = options.default_route};
    else if (!options.default_route.empty())
        set(settings, "routes.default", options.default_route);
}

void set_lanes(config& settings, const node_options& options) {
    for (const auto& [destination, limits] : options.lanes) {
        const auto route = settings.routes.find(destination);
        const auto refuse = [&](std::string_view why) {
            throw error(error_code::invalid_argument,
                        fmt::format("lanes['{}'] {}", destination, why));
        };
        if (route == settings.routes.end()) refuse("has no route; add one of its own to routes");
        if (limits.window < 0 || limits.window > 1000) refuse("has a window out of 1 to 1000");
        if (limits.batch < 0 || limits.batch > 10'000) refuse("has a batch out of 1 to 10000");
        if (!(limits.rate >= 0 && limits.burst >= 0)) refuse("has a rate or burst below zero");
        if (limits.window > 0) route->second.window = limits.window;
        if (limits.batch > 0) route->second.batch = limits.batch;
        if (limits.rate > 0) route->second.rate = limits.rate;
        if (limits.burst > 0) route->second.burst = limits.burst;
    }
}

void set_retries(config& settings, const retry_options& retry) {
    auto& out = settings.outbox;
    out.max_retries = retry.retries_max;
    if (const auto* const exponential = std::get_if<exponential_backoff>(&retry.backoff)) {
        out.retry = retry_kind::exponential;
        out.retry_delay_base = exponential->base;
        out.retry_delay_max = exponential->max;
        out.jitter_max = exponential->jitter_max;
        out.jitter_factor = exponential->jitter_factor;
    } else if (const auto* const fixed = std::get_if<fixed_backoff>(&retry.backoff)) {
        out.retry = retry_kind::fixed;
        out.retry_delay_base = fixed->delay;
    }
}

retry_options retries_of(const config& settings) {
    const auto& out = settings.outbox;
    retry_options retry{.retries_max = static_cast<std::int32_t>(out.max_retries)};
    if (out.retry == retry_kind::fixed)
        retry.backoff = fixed_backoff{out.retry_delay_base};
    else
        retry.backoff = exponential_backoff{.base = out.retry_delay_base,
                                            .max = out.retry_delay_max,
                                            .jitter_max = out.jitter_max,
                                            .jitter_factor = out.jitter_factor};
    return retry;
}

void set_secrets(config& settings, const node_options& options) {
    for (const auto& [peer, scheme] : options.signatures)
        set(settings, "signatures." + peer, scheme);
    for (const auto& [peer, secrets] : options.secrets) {
        config_list list;
        for (const auto& each : secrets) list.items.push_back({"", "node_options", each});
        set(settings, "secrets." + peer, list);
    }
}

}  // namespace

config config_of(const node_options& options, const config* beneath) {
    if (options.service.empty() || options.store.database.empty())
        throw error(error_code::invalid_argument, "give the node a service name and a database");
    check_numbers(options);
    config settings = beneath != nullptr ? *beneath : bare();
    settings.service.id = options.service;
    set_databases(settings, options);
    set(settings, "listen.http", options.listen.http);
    set(settings, "listen.admin", options.listen.admin);
    const auto path = [&](const std::string& written) { return path_in_code(settings, written); };
    settings.listen.unix_socket = path(options.listen.unix_socket);
    set(settings, "listen.pipe", options.listen.pipe);
    set(settings, "listen.grpc", options.listen.grpc);
    settings.tls.certificate = path(options.tls.certificate);
    settings.tls.key = path(options.tls.key);
    settings.tls.authority = path(options.tls.authority);
    settings.tls.mutual = options.tls.mutual;
    set_routes(settings, options);
    set_lanes(settings, options);
    set_secrets(settings, options);
    settings.outbox.message_ttl = options.message_ttl;
    set_retries(settings, options.retry);
    settings.service.parts = options.parts;
    // A file says too little at its peril; code has no key for it, so that it is seen to here.
    const auto needed = custom_backoff_of(options) ? options.message_ttl + std::chrono::hours{1}
                                                   : inbox_retention_needed(settings);
    settings.inbox.retention = std::max(settings.inbox.retention, needed);
    set_level(settings, options.log_level);
    value_or_throw(check_mutual(settings));
    value_or_throw(check_grpc(settings));
    return settings;
}

namespace {

configuration configuration_of(config settings) {
    const auto path = [&settings](const database_url& url) {
        return url.in_memory ? std::string(in_memory) : settings.path_of(url);
    };
    const auto address = [](const std::optional<host_port>& at) {
        return at ? to_string(*at) : std::string{};
    };
    const auto& store = settings.store;
    node_options known{
        .service = settings.service.id,
        .store = {.database = path(store.url),
                  .inbox_database = store.inbox_url ? path(*store.inbox_url) : "",
                  .schema = store.schema,
                  .transactions = store.transactions,
                  .shared = store.shared,
                  .synchronous_full = store.synchronous == sqlite::synchronous::full},
        .listen = {.http = address(settings.listen.http),
                   .admin = address(settings.listen.admin),
                   .unix_socket = settings.path_of(settings.listen.unix_socket),
                   .pipe = settings.listen.pipe,
                   .grpc = address(settings.listen.grpc)},
        .tls = {.certificate = settings.path_of(settings.tls.certificate),
                .key = settings.path_of(settings.tls.key),
                .authority = settings.path_of(settings.tls.authority),
                .mutual = settings.tls.mutual},
        .message_ttl = settings.outbox.message_ttl,
        .retry = retries_of(settings),
        .parts = settings.service.parts,
        .log_level = config_type<log_level>::show(settings.log.level)};
    return {std::move(known), std::make_shared<const config>(std::move(settings))};
}

}  // namespace

custom_backoff custom_backoff_of(const node_options& options) {
    const auto* const custom = std::get_if<custom_backoff>(&options.retry.backoff);
    return custom != nullptr ? *custom : custom_backoff{};
}

configuration::configuration(node_options known, std::shared_ptr<const config> rest)
    : options(std::move(known)), rest_(std::move(rest)) {}

configuration load(const std::string& file) {
    auto settings = value_or_throw(load_config(file));
    // The program may change its folder before it makes the node.
    settings.folder = std::filesystem::absolute(file).parent_path();
    return configuration_of(std::move(settings));
}

configuration defaults(std::string_view name) {
    const auto known = config_type<defaults_name>::read(std::string(name));
    if (!known)
        throw error(error_code::invalid_argument,
                    fmt::format("there are no defaults \"{}\"; they are {}", name,
                                config_type<defaults_name>::wanted));
    auto settings = bare();
    apply_defaults(settings, *known);
    auto made = configuration_of(std::move(settings));
    made.options.service.clear();
    made.options.store.database.clear();
    made.options.store.shared = false;
    made.options.log_level = node_options{}.log_level;
    return made;
}

}  // namespace posthorn
