#pragma once

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"

namespace posthorn {

/// For the admin listener:
///
/// | route                                       | role     | answers                             |
/// |---------------------------------------------|----------|-------------------------------------|
/// | GET /_rf/outbox/lanes                       | viewer   | each destination's lane             |
/// | POST /_rf/outbox/lanes/{destination}/pause  | operator | nothing is sent there from now on;  |
/// |                                             |          | `?reason=…` says why                |
/// | POST /_rf/outbox/lanes/{destination}/resume | operator | it goes on                          |
/// | POST /_rf/outbox/lanes/{destination}/try    | operator | one that rests is tried at once     |
void add_lane_routes(admin_surface& into, node_view& node);

}  // namespace posthorn
