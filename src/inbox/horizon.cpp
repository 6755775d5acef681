#include "inbox/horizon.hpp"

#include <algorithm>

#include "base/planted.hpp"

namespace posthorn {
namespace {

// A peer may name any time; one near the end of time must not wrap into the past.
wall_time later(wall_time from, std::chrono::milliseconds by) {
    return from > wall_time::max() - by ? wall_time::max() : from + by;
}

}  // namespace

wall_time heeded_expiry(wall_time created_at, wall_time expires_at) {
    if (created_at == wall_time{}) return expires_at;  // Its sender does not say.
    return std::min(expires_at, later(created_at, message_life_max));
}

wall_time keep_until(wall_time expires_at, wall_time now, const horizon_options& options) {
    if (POSTHORN_PLANTED(prune_too_early)) return later(now, options.grace);
    const auto wanted = std::max({later(expires_at, options.grace),
                                  later(now, options.row_life_min), later(now, options.retention)});
    // The expiry is bounded by when the message says it was made, and it may say any time.
    return std::min(wanted, later(now, row_life_max(options)));
}

std::chrono::milliseconds row_life_max(const horizon_options& options) {
    return message_life_max + std::max({options.grace, options.row_life_min, options.retention});
}

bool is_past_horizon(wall_time expires_at, wall_time now) {
    return expires_at != no_expiry && expires_at <= now;
}

}  // namespace posthorn
