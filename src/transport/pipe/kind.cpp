#include "transport/pipe/kind.hpp"

#include "transport/pipe/pipe_path.hpp"
#include "transport/unix/unix_channel.hpp"
#include "transport/unix/unix_server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn {
namespace {

result<route_url> parse(std::string_view url) {
    constexpr std::string_view scheme = "pipe://";
    if (!url.starts_with(scheme)) return fail(error_code::invalid_argument, "a pipe has a name");
    const auto name = url.substr(scheme.size());
    POSTHORN_TRY(pipe_path(name, "/"));
    return route_url{.scheme = "pipe", .path = std::string(name)};
}

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(path, pipe_path(wanted.to.path));
    return over_wire(
        std::make_unique<unix_channel>(
            wanted.env.network, wanted.env.timer,
            unix_channel_options{.path = std::move(path),
                                 .exchange_timeout = wanted.timeout,
                                 .replies = {.body_bytes_max = wanted.reply_bytes_max}}),
        wanted);
}

result<std::unique_ptr<listener>> listen(listen_request wanted) {
    POSTHORN_LET(path, pipe_path(wanted.at.path));
    return unix_server::listen(path, {.env = wanted.env,
                                      .handler = std::move(wanted.messages),
                                      .limits = wanted.limits,
                                      .folder = socket_folder::shared,
                                      .pipe = wanted.at.path});
}

}  // namespace

transport_kind pipe_kind() {
    return {.schemes = {"pipe"},
            .written = {"pipe://NAME"},
            .parse = parse,
            .connect = connect,
            .listen_key = "pipe",
            .listen = listen};
}

}  // namespace posthorn
