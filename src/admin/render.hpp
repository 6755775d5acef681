#pragma once

#include <boost/json/object.hpp>

#include "inbox/configured/refused_calls.hpp"
#include "operations/health.hpp"
#include "operations/operations.hpp"
#include "outbox/lane/reachability.hpp"

namespace posthorn {

/// What the admin endpoints and the command line's `--json` show. Pure. Names are camelCase, times
/// ISO-8601; no payload unless it was asked for when the message was read.

[[nodiscard]] boost::json::object to_json(const outbox_overview& overview, wall_time now);
[[nodiscard]] boost::json::object to_json(const peer_state& peer);
[[nodiscard]] boost::json::object to_json(const refused_call& call);
[[nodiscard]] boost::json::object to_json(const message_summary& row);
[[nodiscard]] boost::json::object to_json(const message_list& page);
[[nodiscard]] boost::json::object to_json(const message_detail& detail, bool with_payload);
[[nodiscard]] boost::json::object to_json(const inbox_overview& overview);
[[nodiscard]] boost::json::object to_json(const inbox_list& page);
[[nodiscard]] boost::json::object to_json(const health_verdict& verdict,
                                          const outbox_overview& outbox);

}  // namespace posthorn
