#include "transport/broker/broker_url.hpp"

#include "base/text/http_url.hpp"
#include "base/text/percent.hpp"

namespace posthorn {
namespace {

std::unexpected<error> wrong(const broker_scheme& scheme, std::string_view what) {
    return fail(error_code::invalid_configuration, "{}; write {}://USER@HOST:{}{}", what,
                scheme.plain, scheme.plain_port, scheme.has_path ? "/VHOST" : "");
}

}  // namespace

result<broker_url> parse_broker_url(std::string_view text, const broker_scheme& scheme) {
    const auto end = text.find("://");
    const auto name = text.substr(0, end);
    if (end == text.npos || (name != scheme.plain && name != scheme.tls))
        return wrong(scheme, "the URL of a broker begins with its scheme");
    broker_url url{.tls = name == scheme.tls};
    auto rest = text.substr(end + 3);
    if (rest.find_first_of("?#") != rest.npos)
        return wrong(scheme, "the URL of a broker has neither a query nor a fragment");
    // A password may hold a slash.
    if (const auto at = rest.rfind('@'); at != rest.npos) {
        const auto who = rest.substr(0, at);
        if (who.find(':') != who.npos)
            return wrong(scheme,
                         "a password does not belong into a URL: give it beside, as password = "
                         "\"env:NAME\" or \"file:PATH\"");
        const auto user = percent_decode(who);
        if (!user || user->empty()) return wrong(scheme, "the user of the URL cannot be read");
        url.user = *user;
        rest = rest.substr(at + 1);
    }
    const auto slash = rest.find('/');
    // An address is written as HTTP writes it.
    const auto place = parse_http_url(fmt::format("http://{}", rest.substr(0, slash)));
    if (!place) return wrong(scheme, "the URL names no host that can be read");
    url.host = place->host;
    const auto authority = rest.substr(0, slash);
    const bool has_port = authority.ends_with(fmt::format(":{}", place->port));
    url.port = has_port ? place->port : url.tls ? scheme.tls_port : scheme.plain_port;
    if (slash == rest.npos || slash + 1 == rest.size()) return url;
    const auto path = percent_decode(rest.substr(slash + 1));
    if (!scheme.has_path || !path || path->find('/', 1) != path->npos)
        return wrong(scheme, "what stands behind the address cannot be read");
    url.path = *path;
    return url;
}

result<route_url> broker_route(std::string_view text, const broker_scheme& scheme) {
    POSTHORN_LET(url, parse_broker_url(text, scheme));
    return route_url{.scheme = std::string(url.tls ? scheme.tls : scheme.plain),
                     .host = std::move(url.host),
                     .port = url.port,
                     .path = std::move(url.path)};
}

}  // namespace posthorn
