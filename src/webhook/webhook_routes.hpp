#pragma once

#include <vector>

#include "feature/admin_route.hpp"
#include "security/secret_box.hpp"
#include "store/store.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_client.hpp"

namespace posthorn {

/// What the routes of subscriptions work on.
///
/// Lifetime: outlives the routes.
struct webhook_desk {
    store& where;
    const environment& env;
    subscription_index& subscriptions;
    const secret_box* box;   // Null: secrets are stored in the clear.
    webhook_client* client;  // Null where no node runs.
    bool plain_http = false;
    std::chrono::milliseconds overlap = std::chrono::hours{24};  // Of a secret that was replaced.
};

/// Looks and changes, for people and programs.
[[nodiscard]] std::vector<admin_route> webhook_routes(const webhook_desk& with);

}  // namespace posthorn
