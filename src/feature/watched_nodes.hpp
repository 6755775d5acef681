#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// Asks a web server that a person has configured; `http_client::send` says how it fails.
using web_client = std::function<task<result<http_response>>(std::string url, http_request request,
                                                             http_call_limits limits)>;

/// Another node that the desk of this one shows.
struct watched_node {
    std::string name;
    std::string url;    // Of its admin listener, without a slash at the end.
    std::string key{};  // For that listener; none if empty. Never shown.
};

struct node_watch {
    std::vector<watched_node> nodes{};
    std::chrono::milliseconds every = std::chrono::seconds{60};
    std::chrono::milliseconds timeout = std::chrono::seconds{5};  // Of one request.
};

}  // namespace posthorn
