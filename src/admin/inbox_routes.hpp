#pragma once

#include "admin/gate.hpp"
#include "admin/node_view.hpp"
#include "transport/http/router.hpp"

namespace posthorn {

/// `GET /_rf/inbox/{messageId}`, for a viewer: what is kept of one message that was taken in, from
/// each sender of that id, and what web services said when they did not take it. `?source=…` asks
/// for one sender's; `?payload=true` shows the answers too and needs the right to payloads.
void add_inbox_routes(router& routes, node_view& node, admin_gate& gate);

}  // namespace posthorn
