#include "app/route_url.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace posthorn {
namespace {

using enum route_url::kind;

std::unexpected<error> not_understood(std::string_view text) {
    return fail(error_code::invalid_configuration,
                "the route '{}' is not understood; write http://HOST:PORT, https://HOST:PORT, "
                "unix:///PATH or inprocess:",
                text);
}

std::optional<std::uint16_t> read_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto* const end = text.end();
    const auto [rest, failure] = std::from_chars(text.begin(), end, port);
    if (failure != std::errc{} || rest != end || port == 0) return std::nullopt;
    return port;
}

/// `host`, `host:port`, `[::1]` or `[::1]:port`.
bool read_authority(std::string_view text, route_url& into) {
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return false;
        into.host = text.substr(1, close - 1);
        rest = text.substr(close + 1);
    } else {
        const auto colon = text.find(':');
        into.host = text.substr(0, colon);
        rest = colon == std::string_view::npos ? "" : text.substr(colon);
    }
    if (into.host.empty()) return false;
    if (rest.empty()) return true;
    const auto port = rest.starts_with(':') ? read_port(rest.substr(1)) : std::nullopt;
    into.port = port.value_or(0);
    return port.has_value();
}

bool is_clean(std::string_view text) {
    for (const char each : text)
        if (each <= ' ' || each == '\x7f' || each == '@' || each == '?' || each == '#')
            return false;
    return true;
}

}  // namespace

result<route_url> parse_route_url(std::string_view text) {
    if (text == "inprocess:") return route_url{};
    constexpr std::string_view local = "unix://";
    if (text.starts_with(local)) {
        const auto path = text.substr(local.size());
        if (!path.starts_with('/') || path.size() == 1) return not_understood(text);
        return route_url{.scheme = unix_socket, .path = std::string(path)};
    }
    const bool secure = text.starts_with("https://");
    if (!secure && !text.starts_with("http://")) return not_understood(text);
    const auto rest = text.substr(secure ? 8 : 7);
    if (!is_clean(rest)) return not_understood(text);
    const auto slash = rest.find('/');
    route_url url{.scheme = secure ? https : http, .port = std::uint16_t(secure ? 443 : 80)};
    if (!read_authority(rest.substr(0, slash), url)) return not_understood(text);
    if (slash != std::string_view::npos) url.path = rest.substr(slash);
    while (url.path.ends_with('/')) url.path.pop_back();
    return url;
}

std::string for_service(std::string_view url, std::string_view destination) {
    constexpr std::string_view place = "{service}";
    std::string text(url);
    for (auto at = text.find(place); at != std::string::npos;
         at = text.find(place, at + destination.size()))
        text.replace(at, place.size(), destination);
    return text;
}

}  // namespace posthorn
