#pragma once

#include "admin/access/access.hpp"
#include "app/config/config.hpp"
#include "app/config/core_options.hpp"
#include "feature/node_builder.hpp"
#include "feature/store_builder.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/tls.hpp"
#include "transport/wire/transport_kind.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn {

// What the parts of a node are told, as the configuration has it. Pure.

/// Without what a process adds: who owns the lease, who is told of a fail-stop.
[[nodiscard]] core_options core_settings(const config& settings);
/// What features are told of the database before it is opened.
[[nodiscard]] store_plan plan_of(const core_options& core);
[[nodiscard]] retry_policy retries_of(const config& settings);
[[nodiscard]] core_routes routes_of(const config& settings);
[[nodiscard]] std::optional<core_route> default_route_of(const config& settings);
[[nodiscard]] http_limits limits_of(const config& settings);
[[nodiscard]] message_limits message_limits_of(const config& settings);
/// Of messages that are inserted with plain SQL.
[[nodiscard]] row_defaults row_defaults_of(const config& settings);
[[nodiscard]] wire_server_options wire_options_of(const config& settings);
/// The endpoints whose handler is the feature with this word.
[[nodiscard]] std::vector<feature_endpoint> endpoints_of(const config& settings,
                                                         std::string_view word);
[[nodiscard]] std::vector<admin_key> admin_keys_of(const config& settings);
[[nodiscard]] admin_proxy admin_proxy_of(const config& settings);
/// What is shown to clients.
[[nodiscard]] tls_files server_files_of(const config& settings);
/// What is shown to servers that ask for a certificate.
[[nodiscard]] tls_files client_files_of(const config& settings);

/// Where the transport with that key in `[listen]` is to listen; nothing if it is not asked for.
[[nodiscard]] std::optional<listen_place> listen_place_of(const config& settings,
                                                          std::string_view key);

}  // namespace posthorn
