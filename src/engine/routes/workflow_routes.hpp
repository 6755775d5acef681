#pragma once

#include <vector>

#include "engine/routes/workflow_desk.hpp"

namespace posthorn {

/// Looks and changes, for people and programs.
[[nodiscard]] std::vector<admin_route> workflow_routes(const workflow_desk& with);

}  // namespace posthorn
