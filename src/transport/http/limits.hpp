#pragma once

#include <chrono>
#include <cstddef>

namespace posthorn {

/// Bounds on everything a peer controls.
struct http_limits {
    /// A payload of 1 MiB and what surrounds it; beyond: 413.
    std::size_t body_bytes_max = std::size_t{1024 + 64} * 1024;
    std::size_t header_bytes_max =
        std::size_t{16} * 1024;  // Request line and headers; beyond: 431.
    /// Beyond, those give way that have not shown a key; if all have, 503 and closed.
    std::size_t connections_max = 1024;
    /// Of all bodies together that come over connections which have not shown a key; beyond, the
    /// oldest of those connections give way.
    std::size_t unknown_body_bytes_max = std::size_t{64} * 1024 * 1024;
    /// From the first byte of a request, or from connecting, until its headers are complete.
    std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
    /// For the next request to begin, for a body to arrive, for a response to be taken.
    std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);
};

/// Bounds on what a client does towards one host.
struct http_pool_limits {
    std::size_t connections_max = 4;
    /// Requests on their way on one connection. Beyond the first, they are sent only where the peer
    /// has shown that it keeps connections.
    std::size_t pipeline_max = 8;
    /// For a connection to be made, and for TLS to be agreed on.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
    std::size_t reply_header_bytes_max = std::size_t{16} * 1024;
};

/// Bounds on one request of a client.
struct http_call_limits {
    /// From asking until the whole reply is there, waiting for a connection included.
    std::chrono::milliseconds exchange_timeout = std::chrono::seconds(60);
    std::size_t reply_bytes_max = std::size_t{4} * 1024 * 1024;
};

}  // namespace posthorn
