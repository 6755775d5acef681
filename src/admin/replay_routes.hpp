#pragma once

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"

namespace posthorn {

/// | route                   | role     | answers                                                |
/// |-------------------------|----------|--------------------------------------------------------|
/// | GET /_rf/outbox/replay  | viewer   | how many delivered messages of a time could go again   |
/// | POST /_rf/outbox/replay | operator | the next slice of them is pending again                |
void add_replay_routes(admin_surface& into, node_view& node);

}  // namespace posthorn
