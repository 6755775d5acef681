#pragma once

#include "admin/access.hpp"
#include "app/config/config.hpp"
#include "app/config/core_options.hpp"
#include "transport/http/limits.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn {

// What the parts of a node are told, as the configuration has it. Pure.

/// Without what a process adds: who owns the lease, who is told of a fail-stop.
[[nodiscard]] core_options core_settings(const config& settings);
[[nodiscard]] retry_policy retries_of(const config& settings);
[[nodiscard]] core_routes routes_of(const config& settings);
[[nodiscard]] std::optional<core_route> default_route_of(const config& settings);
[[nodiscard]] http_limits limits_of(const config& settings);
[[nodiscard]] message_limits message_limits_of(const config& settings);
[[nodiscard]] wire_server_options wire_options_of(const config& settings);
/// The endpoints that are handled by a queue.
[[nodiscard]] std::vector<std::string> queues_of(const config& settings);
[[nodiscard]] std::vector<admin_key> admin_keys_of(const config& settings);

}  // namespace posthorn
