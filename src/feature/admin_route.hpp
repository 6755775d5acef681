#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/task.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What a key's holder may do. An operator may do what the others may.
enum class admin_role : std::uint8_t {
    viewer,  // Look, but not into payloads.
    worker,  // Take messages from queues and acknowledge them.
    // The word is a keyword. NOLINTNEXTLINE(readability-identifier-naming)
    operator_,  // Change things.
};

[[nodiscard]] std::string_view to_string(admin_role role) noexcept;
[[nodiscard]] std::optional<admin_role> parse_admin_role(std::string_view text) noexcept;

/// Who asks, once let in.
struct admin_caller {
    std::string name;  // `loopback` without a key.
    admin_role role = admin_role::viewer;
    bool payloads = false;
};

/// Answers a request of a caller who was let in.
using admin_handler = std::function<task<http_response>(http_request, admin_caller)>;

/// One route of the admin listener.
struct admin_route {
    std::string method;
    std::string path;  // Such as `/_rf/queue/{endpoint}/take`.
    admin_role needs = admin_role::viewer;
    admin_handler answer;
};

}  // namespace posthorn
