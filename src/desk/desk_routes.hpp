#pragma once

#include "transport/http/router.hpp"

namespace posthorn {

/// The desk: the page that people open to see how a node is. For the admin listener:
///
/// | route                    | answers                                |
/// |--------------------------|----------------------------------------|
/// | GET /, /desk, /desk/{…}  | the page; its script reads the address |
/// | GET /desk/assets/{file}  | its script, style and icon             |
///
/// These stand before the gate: they hold nothing of the node, and the page is where people give
/// their key. All that it shows comes from the API, which asks for that key.
void add_desk_routes(router& routes);

}  // namespace posthorn
