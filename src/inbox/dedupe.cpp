#include "inbox/dedupe.hpp"

#include <algorithm>

#include "base/planted.hpp"

namespace posthorn {

using namespace std::chrono_literals;

dedupe_decision decide(const inbox_entry* known, const body_hash& hash, wall_time now,
                       std::chrono::milliseconds lease) {
    using kind = dedupe_decision::kind;
    // Small steps of the clock must not end the claim of a handler that is at work.
    constexpr auto step_believed_max = 5min;
    constexpr std::chrono::milliseconds pause_min = 100ms;

    if (known == nullptr) return {kind::run};
    if (known->hash != hash && !POSTHORN_PLANTED(body_not_compared)) return {kind::conflict};
    if (known->processed) return {kind::duplicate};
    if (POSTHORN_PLANTED(claim_never_ends)) return {kind::in_progress, lease};
    if (known->claimed_until <= now) return {kind::run};
    const auto left = known->claimed_until - now;
    if (left > lease + step_believed_max) return {kind::run};
    return {kind::in_progress, std::clamp(left, pause_min, std::max(lease, pause_min))};
}

}  // namespace posthorn
