#pragma once

#include <map>
#include <memory>
#include <string>

#include "transport/http/client_pool.hpp"

namespace posthorn {

/// Asks any HTTP server, and keeps connections for the next time; one request on each at a time.
///
/// Meant for hosts that a person configured or typed: it remembers each that it was ever sent to.
///
/// Lifetime: outlives the calls of `send`; see `client_pool`.
/// Threads:  every member runs on the executor given, but the destructor on any.
/// Cancel:   gives `error_code::cancelled`; the server may have acted nevertheless.
class http_client {
public:
    explicit http_client(http_client_deps parts, http_pool_limits limits = {});

    /// Sends to `url`, whose path and query stand in for the request's own. The reply, whatever its
    /// status, or `invalid_argument`, `certificate_unusable`, `unreachable`, `cancelled`, `closed`.
    task<result<http_response>> send(std::string url, http_request request,
                                     http_call_limits limits = {});
    /// Closes the connections; requests on their way fail with `unreachable`. Twice is safe.
    void stop();

private:
    result<client_pool*> pool_for(const http_url& to);

    http_client_deps parts_;
    http_pool_limits limits_;
    std::map<std::string, std::unique_ptr<client_pool>> pools_;  // By origin.
    bool stopped_ = false;
};

}  // namespace posthorn
