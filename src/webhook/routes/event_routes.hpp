#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "webhook/webhook_routes.hpp"

namespace posthorn {

/// How many deliveries of an event there are, by what became of them.
struct event_deliveries {
    std::int64_t delivered = 0;
    std::int64_t waiting = 0;
    std::int64_t exhausted = 0;  // Given up, or expired.
    std::int64_t resolved = 0;   // Closed by a person.
};

/// What an event has come to: `waiting` (also to be fanned out), `delivered`, `partly` (some were
/// delivered and others exhausted), `exhausted`, `resolved`, or `unheard` (no subscription). Pure.
[[nodiscard]] std::string_view judge_event(bool is_fanned_out, const event_deliveries& seen);

/// One event with its deliveries, and another try for those of them that were exhausted.
[[nodiscard]] std::vector<admin_route> event_routes(const webhook_desk& with);

}  // namespace posthorn
