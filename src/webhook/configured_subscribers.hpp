#pragma once

#include <vector>

#include "base/result.hpp"
#include "feature/settings.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {

/// The subscriptions of `webhooks.subscribers`, with their secrets. Fails with
/// `invalid_configuration`, naming the entry, or with `secret_unavailable`.
[[nodiscard]] result<std::vector<subscription>> read_configured_subscribers(
    const feature_tables& said, bool plain_http);

}  // namespace posthorn
