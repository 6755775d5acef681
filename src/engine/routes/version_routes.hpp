#pragma once

#include <vector>

#include "engine/routes/workflow_desk.hpp"

namespace posthorn {

/// Versions of workflows, and moving open ones from one to another.
[[nodiscard]] std::vector<admin_route> version_routes(const workflow_desk& with);

}  // namespace posthorn
