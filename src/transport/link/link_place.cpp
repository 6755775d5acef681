#include "transport/link/link_place.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <sys/socket.h>
#include <sys/un.h>

#include "transport/http/types.hpp"

namespace posthorn {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t path_max = sizeof(sockaddr_un::sun_path) - 1;

/// As `parse_host_port`, but of any name.
std::optional<host_port> named_place(std::string_view text) {
    if (auto parsed = parse_host_port(text)) return *std::move(parsed);
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto host = text.substr(0, colon);
    const auto fits = [](char each) {
        return each > ' ' && each <= '~' && each != ':' && each != '/';
    };
    if (!std::ranges::all_of(host, fits)) return std::nullopt;
    host_port place{.host = std::string(host)};
    const auto* const end = text.data() + text.size();
    const auto [stopped, wrong] = std::from_chars(text.data() + colon + 1, end, place.port);
    if (wrong != std::errc{} || stopped != end || place.port == 0) return std::nullopt;
    return place;
}

}  // namespace

link_place link_place::unix_socket(std::string file) {
    link_place made;
    made.path = std::move(file);
    return made;
}

bool link_place::stays_here() const {
    return !path.empty() || host == "localhost" || is_loopback(host);
}

std::string to_string(const link_place& place) {
    if (!place.path.empty()) return fmt::format("{}{}", unix_prefix, place.path);
    return to_string(host_port{place.host, place.port});
}

result<link_place> parse_link_place(std::string_view text) {
    if (text.starts_with(unix_prefix)) {
        const auto path = text.substr(unix_prefix.size());
        if (path.starts_with('/') && path.size() <= path_max &&
            path.find('\0') == std::string_view::npos)
            return link_place::unix_socket(std::string(path));
        return fail(error_code::invalid_argument,
                    "write unix: and the whole path of a socket, of at most {} bytes", path_max);
    }
    if (auto place = named_place(text)) return link_place(*std::move(place));
    return fail(error_code::invalid_argument, "write a host and a port, or unix:/PATH");
}

}  // namespace posthorn
