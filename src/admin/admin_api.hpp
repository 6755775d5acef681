#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"
#include "transport/http/router.hpp"

namespace posthorn {

/// `GET /_rf/health` with status, service and version, for the public listener.
void add_public_routes(router& routes, node_view& node);

/// For the admin listener:
///
/// | route                              | role     | answers                                      |
/// |------------------------------------|----------|----------------------------------------------|
/// | GET /_rf/health                    | viewer   | the traffic light with its reasons           |
/// | GET /metrics                       | viewer   | Prometheus' text                             |
/// | GET /_rf/outbox/stats              | viewer   | counts, age and backlog                      |
/// | GET /_rf/outbox                    | viewer   | messages by filter, in pages                 |
/// | GET /_rf/outbox/failed             | viewer   | the dead ones, in pages                      |
/// | GET /_rf/outbox/{messageId}        | viewer   | one with its attempts; `?payload=true` needs |
/// |                                    |          | the right to payloads                        |
/// | POST /_rf/outbox/{messageId}/retry | operator | a dead one is pending again                  |
/// | GET /_rf/inbox/stats               | viewer   | size and duplicates                          |
/// | GET /_rf/inbox                     | viewer   | what was taken in, in pages                  |
/// | GET /_rf/inbox/refused             | viewer   | what web services said instead of taking a   |
/// |                                    |          | message; needs the right to payloads         |
///
/// and those of `add_dead_routes`, `add_inbox_routes`, `add_lane_routes`, `add_link_routes` and
/// `add_replay_routes`.
void add_admin_routes(admin_surface& into, node_view& node);

/// What `/metrics` says; `refusals` are those of the admin listener.
task<std::string> node_metrics(node_view& node, std::uint64_t refusals);

/// The routes that have been added so far, for a viewer: `GET /_rf` lists them, so that a newcomer
/// finds them, and `GET /_rf/openapi.json` says what each takes and answers.
void add_index(admin_surface& into, std::string_view service);

}  // namespace posthorn
