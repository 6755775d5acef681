#pragma once

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"

namespace posthorn {

/// `GET /_rf/inbox/{messageId}`, for a viewer: what is kept of one message that was taken in, from
/// each sender of that id, and what web services said when they did not take it. `?source=…` asks
/// for one sender's; `?payload=true` shows the answers too and needs the right to payloads.
void add_inbox_routes(admin_surface& into, node_view& node);

}  // namespace posthorn
