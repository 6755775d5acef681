#include "transport/http/kind.hpp"

#include "base/text/http_url.hpp"
#include "transport/http/http_channel.hpp"
#include "transport/http/server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn {
namespace {

result<route_url> parse(std::string_view text) {
    // Read by what connects, so that no route is taken here that cannot be used there.
    POSTHORN_LET(read, parse_http_url(text));
    if (text.find('?') != text.npos)
        return fail(error_code::invalid_argument, "a route has no query");
    route_url url{.scheme = read.tls ? "https" : "http",
                  .host = std::move(read.host),
                  .port = read.port,
                  .path = std::move(read.path)};
    while (url.path.ends_with('/')) url.path.pop_back();
    return url;
}

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(channel, http_channel::open({.where = wanted.env.network,
                                              .tasks = wanted.connections,
                                              .time = wanted.env.timer,
                                              .tls = wanted.tls.context},
                                             wanted.url,
                                             {.pool = {.connections_max = wanted.connections_max},
                                              .call = {.exchange_timeout = wanted.timeout,
                                                       .reply_bytes_max = wanted.reply_bytes_max},
                                              .peer_name = wanted.peer_name}));
    return over_wire(std::move(channel), wanted);
}

result<std::unique_ptr<listener>> listen(listen_request wanted) {
    return http_server::listen(wanted.at.address, {.env = wanted.env,
                                                   .handler = std::move(wanted.http),
                                                   .limits = wanted.limits,
                                                   .tls = wanted.tls,
                                                   .refuses = std::move(wanted.refuses)});
}

}  // namespace

transport_kind http_kind() {
    return {.schemes = {"http", "https"},
            .plain = {"http"},
            .written = {"http://HOST:PORT", "https://HOST:PORT"},
            .parse = parse,
            .connect = connect,
            .listen_key = "http",
            .listen = listen};
}

}  // namespace posthorn
