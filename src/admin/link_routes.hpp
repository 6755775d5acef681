#pragma once

#include "admin/gate.hpp"
#include "admin/node_view.hpp"
#include "transport/http/router.hpp"

namespace posthorn {

/// For the admin listener:
///
/// | route                      | role   | answers                                            |
/// |----------------------------|--------|----------------------------------------------------|
/// | GET /_rf/links/{messageId} | viewer | what caused it, where it was taken in, what it led |
/// |                            |        | to, as far as this node knows                      |
void add_link_routes(router& routes, node_view& node, admin_gate& gate);

}  // namespace posthorn
