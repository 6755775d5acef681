#include "transport/grpc/kind.hpp"

#include <fmt/format.h>

#include "base/text/http_url.hpp"
#include "transport/grpc/grpc_channel.hpp"
#include "transport/grpc/grpc_server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn {
namespace {

result<route_url> parse(std::string_view url) {
    const bool tls = url.starts_with("grpcs:");
    const auto rest = url.substr(url.find(':'));
    POSTHORN_LET(read, parse_http_url(fmt::format("http{}", rest)));
    const auto authority = rest.substr(3, rest.find('/', 3) - 3);
    // There is no port that everyone knows.
    if (authority.rfind(':') == authority.npos || authority.ends_with(']'))
        return fail(error_code::invalid_argument, "gRPC needs a port");
    if (rest.find('?') != rest.npos ||
        (!read.path.empty() && read.path != "/" && read.path != "/RFReceiver/Receive"))
        return fail(error_code::invalid_argument, "gRPC has no paths");
    return route_url{
        .scheme = tls ? "grpcs" : "grpc", .host = std::move(read.host), .port = read.port};
}

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(channel, grpc_channel::open({.host = wanted.to.host,
                                              .port = wanted.to.port,
                                              .exchange_timeout = wanted.timeout,
                                              .reply_bytes_max = wanted.reply_bytes_max,
                                              .tls = wanted.to.scheme == "grpcs",
                                              .authority = wanted.tls.authority,
                                              .own = wanted.tls.own,
                                              .peer_name = wanted.peer_name}));
    return over_wire(std::move(channel), wanted);
}

result<std::unique_ptr<listener>> listen(listen_request wanted) {
    return grpc_server::listen(wanted.at.address, {.env = wanted.env,
                                                   .handler = std::move(wanted.messages),
                                                   .limits = wanted.limits,
                                                   .tls = wanted.certificate});
}

}  // namespace

transport_kind grpc_kind() {
    return {.schemes = {"grpc", "grpcs"},
            .plain = {"grpc"},
            .written = {"grpc://HOST:PORT", "grpcs://HOST:PORT"},
            .parse = parse,
            .connect = connect,
            .listen_key = "grpc",
            .listen = listen};
}

}  // namespace posthorn
