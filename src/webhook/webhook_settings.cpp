#include "webhook/webhook_settings.hpp"

#include <array>
#include <charconv>

#include "base/text/referenced_text.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::array keys{
    feature_key{
        "key",
        "seals secrets in the database: env:NAME or file:PATH of 32 bytes in base64, or none",
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
    feature_key{"portal", "whether subscribers reach their own endpoints, with tokens",
                [] { return feature_value(false); }},
    feature_key{"connections_max", "to all endpoints together",
                [] { return feature_value(std::int64_t{1024}); }},
};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// What a key says if not the word for nothing of its own.
std::string_view said_besides(const feature_settings& said, std::string_view key,
                              std::string_view nothing) {
    const std::string_view text = said.get<std::string>(key);
    return text == nothing ? std::string_view() : text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        if (const auto one = trimmed(part); !one.empty()) parts.emplace_back(one);
    }
    return parts;
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

result<std::optional<secret>> read_webhook_secret(const feature_settings& said) {
    const auto reference = said_besides(said, "key", "none");
    if (reference.empty()) return std::optional<secret>{};
    const auto said_there = referenced_text(reference);
    if (!said_there)
        return fail(said_there.error().code(), "webhooks.key: {}", said_there.error().what());
    auto text = *said_there;
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    POSTHORN_LET(key, secret::parse(text));
    return std::optional(std::move(key));
}

}  // namespace

std::span<const feature_key> webhook_keys() noexcept { return keys; }

result<webhook_client::options> read_client_options(const feature_settings& said) {
    webhook_client::options made;
    made.client.rules.plain_http = said.get<bool>("plain_http");
    for (const auto& each : split(said_besides(said, "allow", "none"))) {
        const auto network = ip_network::parse(each);
        if (!network)
            return fail(error_code::invalid_configuration, "webhooks.allow: {}",
                        network.error().what());
        made.client.rules.allow.push_back(*network);
    }
    made.authorities = said_besides(said, "authorities", "system");
    made.names.servers = split(said_besides(said, "name_servers", "system"));
    const auto connections = said.get<std::int64_t>("connections_max");
    if (connections < 1 || connections > 100'000)
        return fail(error_code::invalid_configuration,
                    "webhooks.connections_max cannot be {}; write 1 to 100000", connections);
    made.client.connections_max = static_cast<std::size_t>(connections);
    return made;
}

result<std::shared_ptr<const retry_policy>> read_retries(const feature_settings& said) {
    listed_backoff listed;
    for (const auto& each : split(said.get<std::string>("retry_pauses"))) {
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
    const failing_rules rules{.span = said.get<milliseconds>("disable_after"),
                              .backlog = said.get<std::int64_t>("disable_backlog")};
    if (rules.span < std::chrono::seconds{1})
        return fail(error_code::invalid_configuration,
                    "webhooks.disable_after must be at least 1s");
    if (rules.backlog < 1 || rules.backlog > 1'000'000)
        return fail(error_code::invalid_configuration,
                    "webhooks.disable_backlog cannot be {}; write 1 to 1000000", rules.backlog);
    return rules;
}

std::string read_alerts(const feature_settings& said) {
    return std::string(said_besides(said, "alerts", "none"));
}

result<std::optional<secret_box>> read_webhook_key(const feature_settings& said) {
    POSTHORN_LET(key, read_webhook_secret(said));
    if (!key) return std::optional<secret_box>{};
    POSTHORN_LET(box, secret_box::make({*std::move(key)}));
    return std::optional(std::move(box));
}

result<std::optional<portal_tokens>> read_portal(const feature_settings& said) {
    if (!said.get<bool>("portal")) return std::optional<portal_tokens>{};
    POSTHORN_LET(key, read_webhook_secret(said));
    if (!key)
        return fail(error_code::invalid_configuration,
                    "webhooks.portal needs webhooks.key, with which its tokens are signed");
    return std::optional(portal_tokens(*key));
}

}  // namespace posthorn
