#pragma once

#include <optional>

#include "transport/http/router.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn {

/// Has `POST /_rf/receive`, `POST /_rf/receive-batch` and `POST /api/_workflow/inbox/{MethodId}`
/// answered by the wire server, which outlives the routes.
void add_receive_routes(router& routes, wire_server& to);

/// How a request of HTTP reads to a wire server, and its reply in HTTP.
[[nodiscard]] wire_request read_wire_request(http_request request);
[[nodiscard]] http_response write_wire_reply(wire_reply reply);

/// What is answered to a message whose headers alone show that it will not be taken.
[[nodiscard]] std::optional<http_response> refuse_by_head(wire_server& to,
                                                          const http_request& head);

}  // namespace posthorn
