#pragma once

#include <vector>

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the routes of workflows work on.
///
/// Lifetime: outlives the routes.
struct workflow_desk {
    store& where;
    const environment& env;
};

/// Looks and changes, for people and programs.
[[nodiscard]] std::vector<admin_route> workflow_routes(const workflow_desk& with);

}  // namespace posthorn
