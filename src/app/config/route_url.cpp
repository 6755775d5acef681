#include "app/config/route_url.hpp"

#include "transport/http/url.hpp"
#include "transport/pipe/pipe_path.hpp"

namespace posthorn {
namespace {

using enum route_url::kind;

std::unexpected<error> not_understood(std::string_view text) {
    return fail(error_code::invalid_configuration,
                "the route '{}' is not understood; write http://HOST:PORT, https://HOST:PORT, "
                "unix:///PATH, pipe://NAME, grpc://HOST:PORT, grpcs://HOST:PORT or inprocess:",
                text);
}

result<route_url> parse_grpc_url(std::string_view text) {
    const bool tls = text.starts_with("grpcs://");
    if (!tls && !text.starts_with("grpc://")) return not_understood(text);
    const auto rest = text.substr(text.find("://"));
    const auto read = parse_http_url(fmt::format("http{}", rest));
    // There is no port that everybody knows.
    const auto authority = rest.substr(3, rest.find('/', 3) - 3);
    const bool has_port = authority.rfind(':') != authority.npos && !authority.ends_with(']');
    if (!read || !has_port || rest.find('?') != rest.npos ||
        (!read->path.empty() && read->path != "/" && read->path != "/RFReceiver/Receive"))
        return not_understood(text);
    return route_url{.scheme = tls ? grpcs : grpc, .host = read->host, .port = read->port};
}

}  // namespace

result<route_url> parse_route_url(std::string_view text) {
    if (text == "inprocess:") return route_url{};
    constexpr std::string_view local = "unix://";
    if (text.starts_with(local)) {
        const auto path = text.substr(local.size());
        if (!path.starts_with('/') || path.size() == 1 || path.find('\0') != path.npos)
            return not_understood(text);
        return route_url{.scheme = unix_socket, .path = std::string(path)};
    }
    constexpr std::string_view named = "pipe://";
    if (text.starts_with(named)) {
        const auto name = text.substr(named.size());
        if (!pipe_path(name, "/")) return not_understood(text);
        return route_url{.scheme = pipe, .path = std::string(name)};
    }
    if (text.starts_with("grpc")) return parse_grpc_url(text);
    // Read by whoever connects, so that no route is taken here that cannot be used there.
    const auto read = parse_http_url(text);
    if (!read || text.find('?') != text.npos) return not_understood(text);
    route_url url{.scheme = read->tls ? https : http,
                  .host = read->host,
                  .port = read->port,
                  .path = read->path};
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
