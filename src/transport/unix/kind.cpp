#include "transport/unix/kind.hpp"

#include <filesystem>

#include "transport/unix/unix_channel.hpp"
#include "transport/unix/unix_server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn {
namespace {

result<route_url> parse(std::string_view url) {
    constexpr std::string_view scheme = "unix://";
    const auto path = url.substr(std::min(scheme.size(), url.size()));
    if (!url.starts_with(scheme) || !path.starts_with('/') || path.size() == 1 ||
        path.find('\0') != path.npos)
        return fail(error_code::invalid_argument, "a socket has a whole path");
    return route_url{.scheme = "unix", .path = std::string(path)};
}

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    return over_wire(
        std::make_unique<unix_channel>(
            wanted.env.network, wanted.env.timer,
            unix_channel_options{.path = wanted.to.path,
                                 .exchange_timeout = wanted.timeout,
                                 .replies = {.body_bytes_max = wanted.reply_bytes_max}}),
        wanted);
}

// In full, for those who copy it into a route.
std::string whole(const std::string& written) {
    std::error_code failure;
    const auto path = std::filesystem::absolute(written, failure);
    return failure ? written : path.lexically_normal().string();
}

result<std::unique_ptr<listener>> listen(listen_request wanted) {
    return unix_server::listen(whole(wanted.at.path), {.env = wanted.env,
                                                       .handler = std::move(wanted.messages),
                                                       .limits = wanted.limits,
                                                       .folder = socket_folder::closed});
}

}  // namespace

transport_kind unix_kind() {
    return {.schemes = {"unix"},
            .written = {"unix:///PATH"},
            .parse = parse,
            .connect = connect,
            .listen_key = "unix",
            .listen = listen};
}

}  // namespace posthorn
