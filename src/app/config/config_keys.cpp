#include <array>

#include "app/config/config_table.hpp"
#include "app/config/feature_keys.hpp"
#include "base/text/hide_secrets.hpp"

namespace posthorn {
namespace {

// `Member` gives the member of a config that a key sets; its type says how it is written.
template <auto Member>
consteval key_row row(std::string_view key, std::string_view doc) {
    using type = config_type<std::remove_cvref_t<decltype(Member(std::declval<config&>()))>>;
    return {
        .key = key,
        .type = type::name,
        .wanted = type::wanted,
        .doc = doc,
        .set = [](const key_row& self, config& settings, const config_value& value,
                  std::string_view origin) -> result<> {
            auto read = type::read(value);
            if (!read) return wrong_value(origin, self.key, value, self.wanted);
            Member(settings) = *std::move(read);
            return {};
        },
        .show = [](const key_row& /*self*/,
                   const config& settings) { return type::show(Member(settings)); },
    };
}

std::string show_admin_keys(const key_row& /*self*/, const config& settings) {
    std::string names;
    for (const auto& key : settings.admin.keys)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", key.name, key.role);
    return names;
}

std::string show_proxy_secret(const key_row& /*self*/, const config& settings) {
    return settings.admin.proxy_secret;
}

std::string show_desk_nodes(const key_row& /*self*/, const config& settings) {
    std::string names;
    for (const auto& node : settings.desk.nodes)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", node.name, node.url);
    return names;
}

std::string show_proxy_users(const key_row& /*self*/, const config& settings) {
    std::string names;
    for (const auto& user : settings.admin.proxy_users)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", user.name, user.role);
    return names;
}

// Unlike other texts it may be empty.
template <auto Member>
consteval key_row text_or_none(std::string_view key, std::string_view wanted,
                               std::string_view doc) {
    return {.key = key,
            .type = "string",
            .wanted = wanted,
            .doc = doc,
            .set = [](const key_row& self, config& settings, const config_value& value,
                      std::string_view origin) -> result<> {
                const auto* const text = std::get_if<std::string>(&value);
                if (!text) return wrong_value(origin, self.key, value, self.wanted);
                Member(settings) = *text;
                return {};
            },
            .show = [](const key_row& /*self*/, const config& settings) -> std::string {
                return Member(settings);
            }};
}

#define KEY_AS(name, member, doc) \
    row<[](auto& settings) -> auto& { return settings.member; }>(name, doc)
#define KEY(member, doc) KEY_AS(#member, member, doc)

constexpr std::array table{
    KEY(service.id, "the name under which other services know this one"),
    text_or_none<[](auto& settings) -> auto& { return settings.service.urls; }>(
        "service.urls", R"(URLs such as "https://stock.example:7400", or "" for none)",
        "what senders without a route write for this service; signatures for these count too"),
    KEY(service.defaults, "which system's numbers hold where the file says nothing"),
    KEY(service.parts, "inbox: it only receives; outbox: it only sends"),
    KEY(store.url, "the service's own database; {service} stands for its id"),
    KEY(store.inbox_url, "a database of its own for the inbox; not atomic with the other"),
    KEY(store.schema, "where Posthorn's tables lie in a PostgreSQL database"),
    KEY(store.transactions, "how many of the service's own run at a time on PostgreSQL"),
    KEY(store.synchronous, "full: a promise is on disk; normal: a power cut may take it back"),
    KEY(store.shared, "other processes write the database too, such as the service itself"),
    KEY(store.cleanup, "rows past their retention are deleted"),
    KEY(store.changes_retention, "how long the log of changes is kept"),
    KEY(store.vacuum, "how the file loses the room of deleted rows"),
    KEY(store.disk_low_water, "with less room on the disk no new messages are taken; 0 is never"),
    KEY(store.ballast, "a file to be given up when the disk is full; 0 is none"),
    KEY(backup.folder, "where verified copies of the database go; none are made without it"),
    KEY(backup.every, "how often one is made"),
    KEY(backup.keep, "how long each is kept; the newest always is"),
    KEY(listen.http, "where other services reach this one"),
    KEY(listen.admin, "where operators and their tools do; keep it on loopback"),
    KEY_AS("listen.unix", listen.unix_socket, "the socket where services on this machine do"),
    text_or_none<[](auto& settings) -> auto& { return settings.listen.pipe; }  // namespace
                 >("listen.pipe", R"(the name of a pipe, such as "rf-{service}", or "" for none)",
                   "the name of a pipe where they do; {service} stands for the service's id"),
    KEY(listen.grpc, "where they do by gRPC; on loopback only, unless tls.mutual is set"),
    KEY(tls.certificate, "the chain that listen.http shows; with one it speaks TLS only"),
    KEY(tls.key, "the certificate's private key"),
    KEY(tls.authority, "whom peers are believed by; the system's authorities if there is none"),
    KEY(tls.mutual, "both sides show certificates, which must be of the services that they are"),
    KEY(outbox.poll_interval, "how often the table is looked through for work that was missed"),
    KEY(outbox.max_retries, "retries after the first attempt; -1 is until the message expires"),
    KEY(outbox.message_ttl, "after this a message that was not delivered expires"),
    KEY(outbox.retry, "exponential: each pause is twice the one before; fixed: all are the same"),
    KEY(outbox.retry_delay_base, "the pause before the first retry, or before each if fixed"),
    KEY(outbox.retry_delay_max, "the longest pause before a retry"),
    KEY(outbox.jitter_max, "chance adds up to this to every pause"),
    KEY(outbox.jitter_factor, "chance makes every pause longer or shorter by up to this part"),
    KEY(outbox.batch_size, "messages in one request, at most"),
    KEY(outbox.window, "requests under way to one destination, at most"),
    KEY(outbox.rate, "messages a second to one destination, at most; 0 means no limit"),
    KEY(outbox.burst, "messages at once after a pause; 0 is as many as in a second"),
    KEY(outbox.order, "when one was given up, those behind it of its order key wait or pass"),
    text_or_none<[](auto& settings) -> auto& { return settings.outbox.tenant; }>(
        "outbox.tenant", R"(the name of a tenant, or "" for all)",
        "whose messages alone this node sends; those of all tenants if empty"),
    text_or_none<[](auto& settings) -> auto& { return settings.outbox.timer; }>(
        "outbox.timer", R"(six fields of cron, such as "*/30 * * * * *", or "" for none)",
        "when messages are sent, in UTC; as they come if empty"),
    KEY(outbox.timer_batch, "messages at each of these times, at most"),
    KEY(outbox.request_timeout, "how long one request with its answer may take"),
    KEY(outbox.attempt_timeout, "after this a batch that was not answered is tried again"),
    KEY(outbox.sent_retention, "how long delivered messages are kept to be looked at"),
    KEY(outbox.dead_retention, "how long messages that were given up wait for a person"),
    KEY(outbox.dead_letters, "messages that were given up wait for a person; else they are closed"),
    KEY(outbox.expire_dead, "dead messages expire at their time too, looked at or not"),
    KEY(outbox.on_dead, "SQL that runs once for each message that is given up"),
    KEY(outbox.on_expired, "SQL that runs once for each message that expires"),
    KEY(outbox.expired_retention, "how long messages that expired are kept to be looked at"),
    KEY(outbox.resolved_retention, "how long messages that were resolved are"),
    KEY(outbox.cleanup_interval, "how often rows past their retention are deleted"),
    KEY(outbox.drain_timeout, "how long work in flight may take when the node stops"),
    KEY(inbox.retention, "how long a received message is remembered at least"),
    KEY(inbox.cleanup_interval, "how often rows past that are deleted"),
    KEY(security.hmac_algorithm, "what requests and answers are signed with"),
    key_row{.key = "admin.keys",
            .type = "list of keys",
            .wanted = R"(a list such as [{ name = "desk", role = "operator", hash = "sha256:…" }])",
            .doc = "who may use the admin listener; made by `posthorn keys admin new`",
            .set = &set_admin_keys,
            .show = &show_admin_keys},
    key_row{.key = "admin.proxy_secret",
            .type = "hash",
            .wanted = R"("sha256:" and 64 hexadecimal digits, or "" for no proxy)",
            .doc = "the hash of what a trusted proxy shows in X-Posthorn-Proxy-Secret",
            .set = &set_proxy_secret,
            .show = &show_proxy_secret},
    text_or_none<[](auto& settings) -> auto& { return settings.admin.proxy_user_header; }>(
        "admin.proxy_user_header", R"(a header's name such as "X-Forwarded-User", or "" for none)",
        "where that proxy names the person whom it has signed in"),
    key_row{.key = "admin.proxy_users",
            .type = "list of users",
            .wanted = R"(a list such as [{ name = "ann", role = "operator" }])",
            .doc = "what these persons may do; `*` is for all others",
            .set = &set_proxy_users,
            .show = &show_proxy_users},
    key_row{.key = "desk.nodes",
            .type = "list of nodes",
            .wanted = R"(a list such as [{ name = "stock", url = "http://10.0.0.2:7401", )"
                      R"(key = "env:STOCK_KEY" }])",
            .doc = "other nodes that the desk shows: their light, and one search over all",
            .set = &set_desk_nodes,
            .show = &show_desk_nodes},
    KEY(desk.nodes_every, "how often each of them is asked for its health"),
    KEY(desk.nodes_timeout, "how long one of them may take to answer"),
    KEY(limits.body, "the largest body of a request"),
    KEY(limits.headers, "the largest request line and headers"),
    KEY(limits.payload, "the largest payload of a message, and the largest response"),
    KEY(limits.message_headers, "the largest headers of a message"),
    KEY(limits.name, "the longest service id, endpoint and content type, in bytes"),
    KEY(limits.text, "the longest correlation id, tenant, order key and dedupe key, in bytes"),
    KEY(limits.depth, "how deep the JSON of payload and headers may be nested"),
    KEY(limits.messages_in_batch, "messages in one request from a peer"),
    KEY(limits.connections, "connections at a time, on each listener"),
    KEY(limits.unknown_bodies,
        "bodies that are coming over connections which have not shown a key, all together"),
    KEY(limits.requests_at_work, "requests from peers that are worked on at once"),
    KEY(limits.header_timeout, "the time for the headers of a request"),
    KEY(limits.idle_timeout, "the time for a body, the next request, or an answer to be taken"),
    KEY(limits.answer, "the largest answer that is read from a peer"),
    KEY(log.level, "the least important lines to write"),
    KEY(log.format, "for people or for programs"),
};  // namespace posthorn

#undef KEY
#undef KEY_AS

using shown = std::vector<std::pair<std::string, std::string>>;

/// The URL, and what the route itself says besides; the rest is as [outbox] has it.
std::string show_route(const route_setting& route) {
    std::string text = route.url;
    const auto add = [&text](std::string_view name, const auto& value) {
        if (value) text += fmt::format(", {} {}", name, *value);
    };
    if (route.connections != route_setting{}.connections)
        text += fmt::format(", connections {}", route.connections);
    if (route.timeout)
        text += ", timeout " + config_type<std::chrono::milliseconds>::show(*route.timeout);
    add("window", route.window);
    add("batch", route.batch);
    add("rate", route.rate);
    add("burst", route.burst);
    if (route.signature) text += fmt::format(", signature {}", to_string(*route.signature));
    for (const auto& [name, value] : route.options)
        text += fmt::format(", {} {}", name, hide_secrets(value));
    if (route.password)
        text += route.password->where == secret_setting::kind::environment
                    ? fmt::format(", password env:{}", shown_variable(route.password->name))
                    : fmt::format(", password file:{}", route.password->name);
    return text;
}

shown show_routes(const config& settings) {
    shown all;
    if (settings.default_route) all.emplace_back("default", show_route(*settings.default_route));
    for (const auto& [name, route] : settings.routes) all.emplace_back(name, show_route(route));
    return all;
}

shown show_secrets(const config& settings) {
    shown all;
    for (const auto& [name, secrets] : settings.secrets) {
        std::string text;
        for (const auto& one : secrets) {
            using enum secret_setting::kind;
            text += text.empty() ? "" : ", ";
            switch (one.where) {
                case written: text += "base64:(hidden)"; break;
                case environment: text += "env:" + shown_variable(one.name); break;
                case file: text += "file:" + one.name; break;
            }
        }
        all.emplace_back(name, text);
    }
    return all;
}

shown show_signatures(const config& settings) {
    shown all;
    for (const auto& [name, setting] : settings.signatures)
        all.emplace_back(name, to_string(setting.scheme));
    return all;
}

/// A query may hold a token.
std::string without_query(const std::string& url) {
    const auto mark = url.find('?');
    return mark == std::string::npos ? url : url.substr(0, mark) + "?(hidden)";
}

template <auto Member>
shown show_handlers(const config& settings) {
    shown all;
    for (const auto& [name, handler] : settings.*Member) {
        using enum handler_setting::kind;
        switch (handler.what) {
            case feature: all.emplace_back(name, handler.text); break;
            case sql: all.emplace_back(name, "sql:" + handler.text); break;
            case http: all.emplace_back(name, without_query(handler.text)); break;
        }
    }
    return all;
}

constexpr std::array sections{
    open_section{"routes", "route", "where a destination is; `default` is for all others",
                 &set_route, &show_routes},
    open_section{"secrets", "secret", "what is shared with a peer; the first signs, all verify",
                 &set_secrets, &show_secrets},
    open_section{"signatures", "signature", "how a peer signs, if not with v2", &set_signature,
                 &show_signatures},
    open_section{"handlers", "handler", "what takes the messages of an endpoint", &set_handler,
                 &show_handlers<&config::handlers>},
    open_section{"responses", "handler", "what takes the answers to our Commands of an endpoint",
                 &set_response, &show_handlers<&config::responses>},
    // Shown under the keys that it stands for.
    open_section{"InboxOutbox", "option", "the options of the integration-events document",
                 &set_inbox_outbox, [](const config&) { return shown{}; }},
    open_section{"StoreAndForward", "option", "the options of the store-and-forward document",
                 &set_store_and_forward, [](const config&) { return shown{}; }},
    open_section{"OperationTracking", "option", "those of its tracking table",
                 &set_operation_tracking, [](const config&) { return shown{}; }},
};

}  // namespace

std::span<const key_row> key_table() {
    static const auto all = [] {
        std::vector<key_row> rows(table.begin(), table.end());
        for (auto& each : feature_rows()) rows.push_back(each);
        return rows;
    }();
    return all;
}
std::span<const open_section> open_sections() { return sections; }

}  // namespace posthorn
