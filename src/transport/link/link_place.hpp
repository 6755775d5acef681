#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "transport/host_port.hpp"

namespace posthorn {

/// Where the two of a link meet: a port or, on one machine, a Unix socket.
struct link_place {
    link_place() = default;
    link_place(host_port at) : host(std::move(at.host)), port(at.port) {}
    link_place(std::string at_host, std::uint16_t at_port)
        : host(std::move(at_host)), port(at_port) {}
    [[nodiscard]] static link_place unix_socket(std::string file);

    /// Whether what is said there does not leave the machine.
    [[nodiscard]] bool stays_here() const;
    bool operator==(const link_place&) const = default;

    std::string host{};
    std::uint16_t port = 0;
    std::string path{};  // Of a Unix socket; empty for a port.
};

/// `127.0.0.1:7402`, or `unix:/run/posthorn/pair.sock`.
[[nodiscard]] std::string to_string(const link_place& place);
/// Any host's name will do. `error_code::invalid_argument`, which says what can be written.
[[nodiscard]] result<link_place> parse_link_place(std::string_view text);

}  // namespace posthorn
