#include <algorithm>
#include <array>

#include "app/config/config_problems.hpp"
#include "app/config/config_table.hpp"
#include "app/config/core_settings.hpp"
#include "app/config/mutual_check.hpp"
#include "app/config/route_url.hpp"
#include "base/text/http_url.hpp"
#include "base/text/utf8.hpp"
#include "message/json_check.hpp"
#include "transport/http/types.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// Adds what is wrong, each with the line that it was written on.
class findings {
public:
    findings(const config& settings, config_problems& into) : settings_(settings), into_(into) {}

    void add(std::string_view key, std::string_view text) {
        add_at(settings_.origin_of(key), text);
    }
    void add_at(std::string_view origin, std::string_view text) { into_.add(origin, text); }
    void at_least(std::string_view key, milliseconds value, milliseconds min) {
        if (value < min)
            add(key,
                fmt::format("{} cannot be below {}", key, config_type<milliseconds>::show(min)));
    }
    void within(std::string_view key, std::int64_t value, std::int64_t min, std::int64_t max) {
        if (value < min || value > max)
            add(key, fmt::format("{} cannot be {}; write {} to {}", key, value, min, max));
    }
    [[nodiscard]] bool none() const { return into_.none(); }

private:
    const config& settings_;
    config_problems& into_;
};

bool is_service_id(std::string_view id) {
    for (const char each : id)
        if (each <= ' ' || each > '~') return false;
    return !id.empty() && id.size() <= 255;
}

void check_times(const config& settings, findings& found) {
    const auto& out = settings.outbox;
    found.at_least("outbox.poll_interval", out.poll_interval, 10ms);
    found.at_least("outbox.message_ttl", out.message_ttl, 1s);
    found.at_least("outbox.retry_delay_base", out.retry_delay_base, 1ms);
    found.at_least("outbox.retry_delay_max", out.retry_delay_max, out.retry_delay_base);
    found.at_least("outbox.request_timeout", out.request_timeout, 1ms);
    found.at_least("outbox.attempt_timeout", out.attempt_timeout, 1ms);
    found.at_least("outbox.cleanup_interval", out.cleanup_interval, 1s);
    found.at_least("backup.every", settings.backup.every, 1s);
    found.at_least("backup.keep", settings.backup.keep, settings.backup.every);
    const std::pair<std::string_view, std::optional<milliseconds>> kept[] = {
        {"outbox.sent_retention", out.sent_retention},
        {"outbox.dead_retention", out.dead_retention},
        {"outbox.expired_retention", out.expired_retention},
        {"outbox.resolved_retention", out.resolved_retention},
        {"store.changes_retention", settings.store.changes_retention}};
    for (const auto& [key, time] : kept)
        if (time) found.at_least(key, *time, 1s);
    found.at_least("desk.nodes_every", settings.desk.nodes_every, 100ms);
    found.at_least("desk.nodes_timeout", settings.desk.nodes_timeout, 100ms);
    found.at_least("inbox.cleanup_interval", settings.inbox.cleanup_interval, 1s);
    found.at_least("limits.header_timeout", settings.limits.header_timeout, 10ms);
    found.at_least("limits.idle_timeout", settings.limits.idle_timeout, 10ms);
    if (settings.inbox.retention < inbox_retention_min)
        found.add("inbox.retention",
                  "inbox.retention cannot be below 48h, since a repeat that comes later would take "
                  "effect a second time; it can only lengthen the time: write \"48h\" or more");
}

/// What others receive from us, and we from others who are set up alike, must be remembered for
/// longer than it may come again; a message tells its receiver when it expires, but not every peer
/// reads that.
void check_memory(const config& settings, findings& found) {
    const auto needed = inbox_retention_needed(settings);
    const auto show = [](milliseconds time) { return config_type<milliseconds>::show(time); };
    if (settings.inbox.retention >= inbox_retention_min && settings.inbox.retention < needed)
        found.add(
            "inbox.retention",
            fmt::format("inbox.retention is {}, but a message may be sent again for up to {}, and "
                        "must be remembered for an hour longer than that: write \"{}\" or "
                        "more, or lower outbox.max_retries or outbox.message_ttl",
                        show(settings.inbox.retention), show(needed - 1h), show(needed)));
}

void check_numbers(const config& settings, findings& found) {
    const auto& limits = settings.limits;
    const double factor = settings.outbox.jitter_factor;
    if (!(factor >= 0 && factor <= 1))
        found.add("outbox.jitter_factor",
                  fmt::format("outbox.jitter_factor cannot be {}; write 0 to 1", factor));
    found.within("outbox.max_retries", settings.outbox.max_retries, -1, 1'000'000);
    if (!settings.outbox.timer.empty())
        if (const auto read = cron::parse(settings.outbox.timer); !read)
            found.add("outbox.timer", fmt::format("outbox.timer: {}", read.error().what()));
    found.within("outbox.timer_batch", settings.outbox.timer_batch, 1, 10'000);
    found.within("outbox.batch_size", settings.outbox.batch_size, 1, 10'000);
    found.within("outbox.window", settings.outbox.window, 1, 1000);
    for (const auto& [key, value] :
         {std::pair<std::string_view, double>{"outbox.rate", settings.outbox.rate},
          {"outbox.burst", settings.outbox.burst}})
        if (!(value >= 0 && value <= 1e9))
            found.add(key, fmt::format("{} is out of range; write 0 or more", key));
    found.within("limits.name", limits.name, 1, 4096);
    found.within("limits.text", limits.text, 1, 65'536);
    found.within("limits.depth", limits.depth, 1, static_cast<std::int64_t>(json_depth_max));
    found.within("limits.messages_in_batch", limits.messages_in_batch, 1, 100'000);
    found.within("limits.connections", limits.connections, 1, 1'000'000);
    found.within("limits.requests_at_work", limits.requests_at_work, 1, 1'000'000);
    const auto size = [&](std::string_view key, byte_size value) {
        if (value.bytes < 1024) found.add(key, fmt::format("{} cannot be below 1KiB", key));
    };
    size("limits.body", limits.body);
    size("limits.unknown_bodies", limits.unknown_bodies);
    size("limits.headers", limits.headers);
    size("limits.payload", limits.payload);
    size("limits.message_headers", limits.message_headers);
    size("limits.answer", limits.answer);
    if (limits.payload.bytes > std::size_t{64} << 20)
        found.add("limits.payload",
                  "limits.payload cannot be above 64MiB; send a reference to larger content");
    if (limits.headers.bytes > std::size_t{1} << 30)
        found.add("limits.headers", "limits.headers cannot be above 1GiB");
}

void check_signatures(const config& settings, findings& found) {
    for (const auto& [peer, said] : settings.signatures)
        if (said.scheme != settings.scheme_of(peer))
            found.add_at(
                said.origin,
                fmt::format("signatures.{} is not what routes.{} says; write it once", peer, peer));
}

void check_server(const config& settings, findings& found) {
    constexpr std::size_t name_bytes_max = 63;
    const auto& schema = settings.store.schema;
    if (schema.empty() || schema.size() > name_bytes_max || schema.starts_with("pg_"))
        found.add(
            "store.schema",
            "store.schema is not a name for a schema; write 1 to 63 characters that do not begin "
            "with pg_");
    found.within("store.transactions", settings.store.transactions, 1, 100);
    if (settings.store.inbox_url &&
        (settings.store.url.on_server || settings.store.inbox_url->on_server))
        found.add("store.inbox_url",
                  "store.inbox_url is for SQLite files alone; on PostgreSQL leave it out, so that "
                  "the inbox is in the same database");
    if (!settings.store.url.on_server) return;
    if (!settings.backup.folder.empty())
        found.add(
            "backup.folder",
            "backup.folder is for SQLite files alone; a PostgreSQL server has its own backups");
}

/// A node that asks peers for certificates sends nothing where none is shown.
void check_no_route_is_plain(const config& settings, findings& found) {
    const auto check = [&](std::string_view name, const route_setting& route) {
        const auto shown = for_service(route.url, "x");
        const auto is_open = [](std::string_view each) {
            const auto url = parse_route_url(each);
            return url && is_plain(*url);
        };
        if (std::ranges::any_of(addresses_in(shown), is_open))
            found.add_at(route.origin,
                         fmt::format("routes.{} has no TLS, but tls.mutual = true asks for a "
                                     "certificate of every peer; write https:// or grpcs://",
                                     name));
    };
    for (const auto& [name, route] : settings.routes) check(name, route);
    if (settings.default_route) check("default", *settings.default_route);
}

constexpr std::string_view urls_without_names =
    "urls.enabled cannot be true with tls.mutual, which asks for a certificate in the name of a "
    "service: a URL has no such name; give these services routes, or leave one of the two off";

bool sends_to_urls(const config& settings) {
    const auto said = settings.features.find("urls.enabled");
    return said != settings.features.end() && std::get<bool>(said->second);
}

/// Without a secret anyone who reaches the listener could name any person.
void check_proxy(const config& settings, findings& found) {
    const auto& admin = settings.admin;
    if (!admin.proxy_user_header.empty() && admin.proxy_secret.empty())
        found.add("admin.proxy_user_header",
                  "admin.proxy_user_header needs admin.proxy_secret, since only a proxy that shows "
                  "a secret is believed");
    const auto is_letter = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '-' || each == '_';
    };
    if (!std::ranges::all_of(admin.proxy_user_header, is_letter))
        found.add("admin.proxy_user_header",
                  "admin.proxy_user_header is not the name of a header; write letters, digits, - "
                  "and _");
    if (!admin.proxy_users.empty() && admin.proxy_user_header.empty())
        found.add("admin.proxy_users",
                  "admin.proxy_users needs admin.proxy_user_header, in which they are named");
}

/// Whether a listener on `host` takes its port on the address of `other` too.
bool covers(std::string_view host, std::string_view other) {
    return host == other || host == "::" || (host == "0.0.0.0" && !other.contains(':'));
}

bool are_in_each_others_way(const host_port& one, const host_port& other) {
    return one.port != 0 && one.port == other.port &&
           (covers(one.host, other.host) || covers(other.host, one.host));
}

void check_listeners(const config& settings, findings& found) {
    const std::array<std::pair<std::string_view, std::optional<host_port>>, 3> all{
        {{"listen.http", settings.listen.http},
         {"listen.admin", settings.listen.admin},
         {"listen.grpc", settings.listen.grpc}}};
    for (auto one = all.begin(); one != all.end(); ++one)
        for (auto earlier = all.begin(); earlier != one; ++earlier)
            if (one->second && earlier->second &&
                are_in_each_others_way(*earlier->second, *one->second))
                found.add(one->first,
                          fmt::format("{} and {} cannot both listen on port {}; give one of them "
                                      "another",
                                      earlier->first, one->first, one->second->port));
}

void check_together(const config& settings, findings& found) {
    if (!is_service_id(settings.service.id))
        found.add("service.id",
                  "service.id holds a character that cannot be sent; write 1 to 255 visible ASCII "
                  "characters, without spaces");
    for (const auto& url : settings.service_urls())
        if (!is_service_id(url) || !has_http_scheme(url))
            found.add("service.urls",
                      fmt::format("service.urls: '{}' is not a URL that a sender could write; "
                                  "write https://HOST:PORT, of 255 bytes at most",
                                  clean_utf8(url, 100)));
    const auto stem = [&](const database_url& url) {
        return std::filesystem::path(settings.path_of(url)).stem();
    };
    if (!settings.backup.folder.empty() && settings.store.inbox_url &&
        stem(settings.store.url) == stem(*settings.store.inbox_url))
        found.add(
            "backup.folder",
            "the backups of store.url and store.inbox_url would have the same names; give one "
            "of the two databases another file name");
    if (settings.service.parts == node_parts::outbox)
        for (const auto* const section : {&settings.handlers, &settings.responses})
            for (const auto& [endpoint, handler] : *section)
                found.add_at(handler.origin,
                             fmt::format("{} has a handler, but service.parts = \"outbox\" "
                                         "receives nothing; write \"both\" or \"inbox\"",
                                         endpoint));
    const bool has_certificate = !settings.tls.certificate.empty();
    if (has_certificate != !settings.tls.key.empty())
        found.add(has_certificate ? "tls.certificate" : "tls.key",
                  "tls.certificate and tls.key go together; write both or neither");
    if (const auto allowed = check_grpc(settings); !allowed)
        found.add("listen.grpc", allowed.error().what());
    if (const auto shown = check_mutual(settings); !shown)
        found.add("tls.mutual", shown.error().what());
    if (settings.tls.mutual) check_no_route_is_plain(settings, found);
    if (settings.tls.mutual && sends_to_urls(settings))
        found.add("urls.enabled", std::string(urls_without_names));
}

}  // namespace

result<> check_mutual(const config& settings) {
    const auto& tls = settings.tls;
    if (!tls.mutual || (!tls.certificate.empty() && !tls.key.empty() && !tls.authority.empty()))
        return {};
    return fail(error_code::invalid_configuration,
                "tls.mutual needs tls.certificate and tls.key to show, and tls.authority to look "
                "at what others show; write all three");
}

result<> check_grpc(const config& settings) {
    const auto& at = settings.listen.grpc;
    if (!at || settings.tls.mutual || is_loopback(at->host) || at->host == "localhost") return {};
    return fail(
        error_code::invalid_configuration,
        "listen.grpc can be reached by others, who know ways to end this version of gRPC "
        "from outside; write 127.0.0.1:PORT, or let it refuse callers without a certificate: "
        "tls.mutual = true");
}

milliseconds inbox_retention_needed(const config& settings) {
    const auto& out = settings.outbox;
    const auto window = longest_retry_window(
        retries_of(settings), {.retries_max = static_cast<std::int32_t>(out.max_retries),
                               .attempt_timeout = out.attempt_timeout,
                               .message_ttl = out.message_ttl});
    return 1h + std::chrono::ceil<std::chrono::hours>(window);  // In full ones, to be read.
}

void check_config(const config& settings, config_problems& problems) {
    findings found(settings, problems);
    check_times(settings, found);
    check_numbers(settings, found);
    check_signatures(settings, found);
    check_listeners(settings, found);
    check_together(settings, found);
    check_server(settings, found);
    check_proxy(settings, found);
    if (found.none()) check_memory(settings, found);  // It reckons with numbers that are in range.
}

result<> check_config(const config& settings) {
    config_problems problems;
    check_config(settings, problems);
    return problems.outcome();
}

}  // namespace posthorn
