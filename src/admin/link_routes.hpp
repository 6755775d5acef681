#pragma once

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"

namespace posthorn {

/// For the admin listener:
///
/// | route                      | role   | answers                                            |
/// |----------------------------|--------|----------------------------------------------------|
/// | GET /_rf/links/{messageId} | viewer | what caused it, where it was taken in, what it led |
/// |                            |        | to, as far as this node knows                      |
void add_link_routes(admin_surface& into, node_view& node);

}  // namespace posthorn
