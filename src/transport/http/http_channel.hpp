#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "transport/http/client_pool.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

struct http_channel_options {
    http_pool_limits pool{};
    http_call_limits call{};
    /// The service at the other end, whose certificate must be its own; empty: the host's name is
    /// enough.
    std::string peer_name{};
};

/// A way to one peer over HTTP: connections are kept, and several requests may be on each.
///
/// A connection that breaks takes its requests with it, each as `unreachable`; only those that a
/// peer cannot have looked at, because it had closed a kept connection, are sent once more.
///
/// Lifetime: outlives the exchanges on it. Its connections run in the task group given: stop or
///           destroy the channel first, then join the group.
/// Threads:  the executor given; the destructor on any.
/// Cancel:   as every channel's; the connection is closed, since no call waits for its next reply.
class http_channel final : public wire_channel {
public:
    /// `http://host:port` or `https://…`, with a path to put before ours if need be. Fails with
    /// `invalid_argument`, or with `certificate_unusable` where the authorities cannot be read.
    static result<std::unique_ptr<http_channel>> open(http_client_deps parts, std::string_view url,
                                                      http_channel_options options = {});

    task<result<wire_reply>> exchange(wire_request request) override;
    /// Closes the connections; exchanges under way fail with `unreachable`, later ones with
    /// `closed`. Twice is safe.
    void stop() { pool_.stop(); }

private:
    http_channel(http_client_deps parts, http_url to, const http_channel_options& options);

    std::string prefix_;  // Goes before each path; empty for most.
    http_call_limits limits_;
    client_pool pool_;
};

}  // namespace posthorn
