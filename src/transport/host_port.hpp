#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// Where a TCP listener listens: a numeric address, or `localhost`, and a port.
struct host_port {
    std::string host;        // Without the brackets that IPv6 wears in text.
    std::uint16_t port = 0;  // Zero asks the system for any free port.

    bool operator==(const host_port&) const = default;
};

/// Reads `127.0.0.1:7400`, `[::1]:7400` or `localhost:7400`; fails with `address_unavailable`.
[[nodiscard]] result<host_port> parse_host_port(std::string_view text);
[[nodiscard]] std::string to_string(const host_port& address);

}  // namespace posthorn
