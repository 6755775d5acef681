#include "url/url_settings.hpp"

#include <array>
#include <string>

#include "base/text/comma_list.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t connections_most = 65'535;

constexpr std::array keys{
    feature_key{"enabled", "whether a message may be sent to a URL that no route names",
                [] { return feature_value(false); }},
    feature_key{"plain_http", "whether these URLs may be called without TLS",
                [] { return feature_value(false); }},
    feature_key{"allow", "networks that may be called though they are not public: 10.0.0.0/8, ::1",
                [] { return feature_value(std::string("none")); }},
    feature_key{"authorities", "a file of certificate authorities, or system",
                [] { return feature_value(std::string("system")); }},
    feature_key{"name_servers", "who is asked for names, such as 10.0.0.53:53, or system",
                [] { return feature_value(std::string("system")); }},
    feature_key{"timeout", "how long one request with its answer may take",
                [] { return feature_value(milliseconds(std::chrono::seconds{30})); }},
    feature_key{"connections_max", "to all URLs together",
                [] { return feature_value(std::int64_t{256}); }},
};

/// What a key says if not the word for nothing of its own.
std::string said_besides(const feature_settings& said, std::string_view key,
                         std::string_view nothing) {
    const auto& text = said.get<std::string>(key);
    return text == nothing ? std::string() : text;
}

result<std::vector<ip_network>> read_allow(const feature_settings& said) {
    auto all = parse_networks(said_besides(said, "allow", "none"));
    if (!all) return fail(error_code::invalid_configuration, "urls.allow: {}", all.error().what());
    return all;
}

result<milliseconds> read_timeout(const feature_settings& said) {
    const auto time = said.get<milliseconds>("timeout");
    if (time >= milliseconds{1}) return time;
    return fail(error_code::invalid_configuration,
                "urls.timeout cannot be 0; write one such as \"30s\"");
}

result<std::size_t> read_connections_max(const feature_settings& said) {
    const auto number = said.get<std::int64_t>("connections_max");
    if (number >= 1 && number <= connections_most) return static_cast<std::size_t>(number);
    return fail(error_code::invalid_configuration,
                "urls.connections_max cannot be {}; write 1 to {}", number, connections_most);
}

}  // namespace

std::span<const feature_key> url_keys() noexcept { return keys; }

result<url_client::options> read_url_options(const feature_settings& said) {
    url_client::options made{.authorities = said_besides(said, "authorities", "system")};
    POSTHORN_LET(allow, read_allow(said));
    POSTHORN_LET(timeout, read_timeout(said));
    POSTHORN_LET(connections, read_connections_max(said));
    made.client.rules = {.plain_http = said.get<bool>("plain_http"), .allow = std::move(allow)};
    made.client.limits.whole = timeout;
    made.client.limits.verbatim = true;
    made.client.connections_max = connections;
    made.names.servers = split_at_commas(said_besides(said, "name_servers", "system"));
    return made;
}

std::vector<feature_problem> check_url_settings(const feature_settings& said) {
    std::vector<feature_problem> found;
    const auto note = [&](std::string_view key, const auto& read) {
        if (!read) found.push_back({key, read.error()});
    };
    note("allow", read_allow(said));
    note("timeout", read_timeout(said));
    note("connections_max", read_connections_max(said));
    return found;
}

}  // namespace posthorn
