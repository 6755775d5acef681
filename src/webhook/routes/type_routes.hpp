#pragma once

#include <vector>

#include "webhook/webhook_routes.hpp"

namespace posthorn {

/// The catalogue of event types: listed and changed.
[[nodiscard]] std::vector<admin_route> type_routes(const webhook_desk& with);

}  // namespace posthorn
