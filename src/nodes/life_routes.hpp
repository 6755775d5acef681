#pragma once

#include "nodes/nodes_routes.hpp"

namespace posthorn {

/// What other nodes know of one message: who sent it, where it took effect, and what it caused there.
/// Where there are other nodes.
[[nodiscard]] admin_route life_route(const nodes_deps& with);

}  // namespace posthorn
