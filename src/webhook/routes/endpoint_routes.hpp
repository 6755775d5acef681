#pragma once

#include <vector>

#include "webhook/webhook_routes.hpp"

namespace posthorn {

/// Looks at endpoints and what was sent to them: what the pages of the desk show.
[[nodiscard]] std::vector<admin_route> endpoint_routes(const webhook_desk& with);

}  // namespace posthorn
