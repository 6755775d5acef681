#include "webhook/webhook_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/comma_list.hpp"
#include "base/text/utf8.hpp"
#include "message/event.hpp"
#include "webhook/configured_subscribers.hpp"
#include "webhook/routes/portal_page.hpp"
#include "webhook/secrets/referenced_secret.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::array keys{
    feature_key{
        "key",
        "seals secrets in the database: env:NAME or file:PATH of 32 bytes in base64, or none",
        [] { return feature_value(std::string("none")); }},
    feature_key{"key_before",
                "the key before, which still opens what it sealed: env:NAME or file:PATH, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"plain_http", "whether endpoints may be called without TLS",
                [] { return feature_value(false); }},
    feature_key{"allow", "networks that may be called though they are not public: 10.0.0.0/8, ::1",
                [] { return feature_value(std::string("none")); }},
    feature_key{"authorities", "a file of certificate authorities, or system",
                [] { return feature_value(std::string("system")); }},
    feature_key{"name_servers", "who is asked for names, such as 10.0.0.53:53, or system",
                [] { return feature_value(std::string("system")); }},
    feature_key{
        "retry_pauses", "how long to wait after each failure; the last one again and again",
        [] { return feature_value(std::string("5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h")); }},
    feature_key{"life", "how long a delivery is tried for",
                [] { return feature_value(milliseconds(std::chrono::days{4})); }},
    feature_key{"secret_overlap", "how long a secret that was replaced still signs",
                [] { return feature_value(milliseconds(std::chrono::hours{24})); }},
    feature_key{"attempts_kept", "how long the list of attempts goes back",
                [] { return feature_value(milliseconds(std::chrono::days{30})); }},
    feature_key{"disable_after", "how long an endpoint may do nothing but fail",
                [] { return feature_value(milliseconds(std::chrono::days{5})); }},
    feature_key{"disable_backlog", "how many deliveries may wait for an endpoint that fails",
                [] { return feature_value(std::int64_t{10'000}); }},
    feature_key{"alerts", "a service that is sent alerts about failing endpoints, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"subscribers", "endpoints that are told of events, apart from the database's",
                [] { return feature_value(feature_tables{}); }},
    feature_key{"strict", "whether events may be of the catalogue's types alone",
                [] { return feature_value(false); }},
    feature_key{"portal", "whether subscribers reach their own endpoints, with tokens",
                [] { return feature_value(false); }},
    feature_key{"portal_embedders",
                "origins whose pages may show the portal in a frame: https://app.example, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"tenant_secrets",
                "where secrets of tenants lie: env:HOOK_{tenant} or file:PATH/{tenant}, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"secret_cache", "how long a secret of a tenant is not read again",
                [] { return feature_value(milliseconds(std::chrono::minutes{5})); }},
    feature_key{"max_retries", "of a delivery, whatever its subscription says",
                [] { return feature_value(std::int64_t{50}); }},
    feature_key{"batch", "events that are looked at together",
                [] { return feature_value(std::int64_t{24}); }},
    feature_key{"endpoint_requests", "to one endpoint at a time, before it has shown how it does",
                [] { return feature_value(std::int64_t{4}); }},
    feature_key{"tenant_claim", "the claim that an event's tenant is taken from, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"user_claim", "the claim that an event's user is taken from, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"metrics",
                "how /metrics names what it tells of webhooks: posthorn, or outboxnet too",
                [] { return feature_value(std::string("posthorn")); }},
    feature_key{"connections_max", "to all endpoints together",
                [] { return feature_value(std::int64_t{1024}); }},
};

/// What a key says if not the word for nothing of its own.
std::string_view said_besides(const feature_settings& said, std::string_view key,
                              std::string_view nothing) {
    const std::string_view text = said.get<std::string>(key);
    return text == nothing ? std::string_view() : text;
}

std::optional<milliseconds> pause_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.begin(), text.end(), number);
    if (wrong != std::errc{} || number < 0 || number > 1'000'000) return std::nullopt;
    const auto unit = text.substr(static_cast<std::size_t>(end - text.begin()));
    if (unit == "ms") return milliseconds(number);
    if (unit == "s") return std::chrono::seconds(number);
    if (unit == "m") return std::chrono::minutes(number);
    if (unit == "h") return std::chrono::hours(number);
    return std::nullopt;
}

result<std::optional<secret>> read_webhook_secret(const feature_settings& said,
                                                  std::string_view name) {
    const auto reference = said_besides(said, name, "none");
    if (reference.empty()) return std::optional<secret>{};
    const auto said_there = referenced_secret(reference);
    if (!said_there)
        return fail(said_there.error().code(), "webhooks.{}: {}", name, said_there.error().what());
    auto text = *said_there;
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    POSTHORN_LET(key, secret::parse(text));
    return std::optional(std::move(key));
}

/// A key that holds a whole number from 1.
struct number_key {
    std::string_view name;
    std::int64_t max;
};
constexpr number_key connections_max{"connections_max", 100'000};
constexpr number_key batch{"batch", 1'000};
constexpr number_key endpoint_requests{"endpoint_requests", 32};
constexpr number_key max_retries{"max_retries", 50};
constexpr number_key disable_backlog{"disable_backlog", 1'000'000};

result<std::int64_t> read_number(const feature_settings& said, const number_key& key) {
    const auto number = said.get<std::int64_t>(key.name);
    if (number >= 1 && number <= key.max) return number;
    return fail(error_code::invalid_configuration, "webhooks.{} cannot be {}; write 1 to {}",
                key.name, number, key.max);
}

result<milliseconds> read_disable_after(const feature_settings& said) {
    const auto span = said.get<milliseconds>("disable_after");
    if (span >= std::chrono::seconds{1}) return span;
    return fail(error_code::invalid_configuration, "webhooks.disable_after must be at least 1s");
}

result<std::vector<ip_network>> read_allow(const feature_settings& said) {
    auto all = parse_networks(said_besides(said, "allow", "none"));
    if (!all)
        return fail(error_code::invalid_configuration, "webhooks.allow: {}", all.error().what());
    return all;
}

}  // namespace

std::span<const feature_key> webhook_keys() noexcept { return keys; }

result<webhook_client::options> read_client_options(const feature_settings& said) {
    webhook_client::options made;
    made.client.rules.plain_http = said.get<bool>("plain_http");
    POSTHORN_LET(allow, read_allow(said));
    made.client.rules.allow = std::move(allow);
    made.authorities = said_besides(said, "authorities", "system");
    made.names.servers = split_at_commas(said_besides(said, "name_servers", "system"));
    POSTHORN_LET(connections, read_number(said, connections_max));
    made.client.connections_max = static_cast<std::size_t>(connections);
    return made;
}

result<std::shared_ptr<const retry_policy>> read_retries(const feature_settings& said) {
    listed_backoff listed;
    for (const auto& each : split_at_commas(said.get<std::string>("retry_pauses"))) {
        const auto pause = pause_of(each);
        if (!pause)
            return fail(error_code::invalid_configuration,
                        "webhooks.retry_pauses: '{}' is not a pause; write 5s, 30m or 2h", each);
        listed.pauses.push_back(*pause);
    }
    if (listed.pauses.empty())
        return fail(error_code::invalid_configuration,
                    "webhooks.retry_pauses is empty; write them as 5s, 5m, 30m");
    return std::make_shared<const retry_policy>(std::move(listed));
}

result<failing_rules> read_failing_rules(const feature_settings& said) {
    POSTHORN_LET(span, read_disable_after(said));
    POSTHORN_LET(backlog, read_number(said, disable_backlog));
    return failing_rules{.span = span, .backlog = backlog};
}

result<std::string> read_alerts(const feature_settings& said, const message_limits& limits) {
    std::string to(said_besides(said, "alerts", "none"));
    const bool is_name =
        to.size() <= limits.name_size_max && is_utf8(to) &&
        std::ranges::none_of(to, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (!is_name)
        return fail(error_code::invalid_configuration,
                    "webhooks.alerts: '{}' is not the name of a service; write 1 to {} bytes "
                    "without control characters, or none",
                    clean_utf8(to, 100), limits.name_size_max);
    // Such a message would be taken for an event, and its alert told to every subscriber.
    if (to == events_destination || to.starts_with(lane_prefix))
        return fail(error_code::invalid_configuration,
                    "webhooks.alerts cannot be '{}', which is where events go; name a service of "
                    "your own",
                    clean_utf8(to, 100));
    return to;
}

result<std::int32_t> read_retries_max(const feature_settings& said) {
    POSTHORN_LET(number, read_number(said, max_retries));
    return static_cast<std::int32_t>(number);
}

result<webhook_pace> read_pace(const feature_settings& said) {
    POSTHORN_LET(events, read_number(said, batch));
    POSTHORN_LET(requests, read_number(said, endpoint_requests));
    return webhook_pace{.batch = events, .endpoint_requests = requests};
}

result<metric_names> read_metric_names(const feature_settings& said) {
    const auto& text = said.get<std::string>("metrics");
    if (text == "posthorn") return metric_names::posthorn;
    if (text == "outboxnet") return metric_names::outboxnet;
    return fail(error_code::invalid_configuration,
                "webhooks.metrics cannot be '{}'; write posthorn or outboxnet",
                clean_utf8(text, 100));
}

claim_types read_claim_types(const feature_settings& said) {
    return {.tenant = std::string(said_besides(said, "tenant_claim", "none")),
            .user = std::string(said_besides(said, "user_claim", "none"))};
}

result<tenant_secrets::options> read_tenant_secrets(const feature_settings& said) {
    const std::string pattern(said_besides(said, "tenant_secrets", "none"));
    const bool lies_somewhere = pattern.starts_with("env:") || pattern.starts_with("file:");
    if (!pattern.empty() && (!lies_somewhere || pattern.find("{tenant}") == pattern.npos))
        return fail(
            error_code::invalid_configuration,
            "webhooks.tenant_secrets does not say where they lie; write env:NAME or file:PATH with "
            "{{tenant}} in it, or none");
    return tenant_secrets::options{.pattern = pattern,
                                   .kept = said.get<milliseconds>("secret_cache")};
}

result<std::vector<subscription>> read_subscribers(const feature_settings& said) {
    return read_configured_subscribers(said.get<feature_tables>("subscribers"),
                                       said.get<bool>("plain_http"));
}

std::vector<feature_problem> check_webhook_settings(const feature_settings& said,
                                                    const message_limits& limits) {
    std::vector<feature_problem> found;
    const auto note = [&](std::string_view key, const auto& read) {
        if (!read) found.push_back({key, read.error()});
    };
    note("allow", read_allow(said));
    note("connections_max", read_number(said, connections_max));
    note("max_retries", read_number(said, max_retries));
    note("batch", read_number(said, batch));
    note("endpoint_requests", read_number(said, endpoint_requests));
    note("metrics", read_metric_names(said));
    note("tenant_secrets", read_tenant_secrets(said));
    note("retry_pauses", read_retries(said));
    note("disable_after", read_disable_after(said));
    note("disable_backlog", read_number(said, disable_backlog));
    note("alerts", read_alerts(said, limits));
    note("subscribers", read_subscribers(said));
    note("portal_embedders", read_embedders(said));
    // The portal needs the key, and would say the same of it.
    const auto key = read_webhook_key(said);
    note("key", key);
    if (key) note("portal", read_portal(said));
    return found;
}

result<std::optional<secret_box>> read_webhook_key(const feature_settings& said) {
    POSTHORN_LET(key, read_webhook_secret(said, "key"));
    POSTHORN_LET(before, read_webhook_secret(said, "key_before"));
    if (!key && before)
        return fail(error_code::invalid_configuration,
                    "webhooks.key_before needs webhooks.key, the one after it");
    if (!key) return std::optional<secret_box>{};
    std::vector<secret> all{*std::move(key)};
    if (before) all.push_back(*std::move(before));
    POSTHORN_LET(box, secret_box::make(std::move(all)));
    return std::optional(std::move(box));
}

result<std::optional<portal_tokens>> read_portal(const feature_settings& said) {
    if (!said.get<bool>("portal")) return std::optional<portal_tokens>{};
    POSTHORN_LET(key, read_webhook_secret(said, "key"));
    if (!key)
        return fail(error_code::invalid_configuration,
                    "webhooks.portal needs webhooks.key, with which its tokens are signed");
    return std::optional(portal_tokens(*key));
}

result<std::vector<std::string>> read_embedders(const feature_settings& said) {
    auto all = parse_embedders(said_besides(said, "portal_embedders", "none"));
    if (!all)
        return fail(error_code::invalid_configuration, "webhooks.portal_embedders: {}",
                    all.error().what());
    return all;
}

}  // namespace posthorn
