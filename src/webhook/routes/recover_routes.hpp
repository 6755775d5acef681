#pragma once

#include <vector>

#include "webhook/webhook_routes.hpp"

namespace posthorn {

/// What an endpoint missed: counted, and sent.
[[nodiscard]] std::vector<admin_route> recover_routes(const webhook_desk& with);

}  // namespace posthorn
