#pragma once

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"

namespace posthorn {

/// For the admin listener, what was given up:
///
/// | route                                       | role     | answers                           |
/// |---------------------------------------------|----------|-----------------------------------|
/// | GET /_rf/dead                               | viewer   | by filter, in pages               |
/// | GET /_rf/dead/groups                        | viewer   | by cause, largest first           |
/// | GET /_rf/dead/{messageId}                   | viewer   | one with its attempts and `ETag`; |
/// |                                             |          | `?payload=true` as elsewhere      |
/// | POST /_rf/dead/{messageId}/requeue, resolve,| operator | the change of one; `If-Match`     |
/// |      delete, edit                           |          | makes it conditional              |
/// | POST /_rf/dead/requeue, resolve, delete     | operator | the next slice of a change of     |
/// |                                             |          | all that fit the filter           |
void add_dead_routes(admin_surface& into, node_view& node);

}  // namespace posthorn
