#pragma once

#include <optional>
#include <vector>

#include "feature/node_builder.hpp"
#include "webhook/routes/portal_token.hpp"
#include "webhook/webhook_routes.hpp"

namespace posthorn {

/// What the portal works on. A subscriber asks the same routes as an operator, of their own tenant
/// alone.
///
/// Lifetime: outlives the routes.
struct webhook_portal {
    const webhook_desk& desk;
    std::vector<admin_route> routes;      // Of the desk.
    std::optional<portal_tokens> tokens;  // None: the portal is off.
};

/// Makes tokens, for the service.
[[nodiscard]] admin_route portal_token_route(const webhook_portal& with);

/// Under `/webhooks/portal`, on the listener that others reach. None while the portal is off.
[[nodiscard]] std::vector<public_route> portal_routes(const webhook_portal& with);

}  // namespace posthorn
