#include "outbox/rules/lane_gate.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace posthorn {

using permit = breaker::permit;

lane_mode lane_gate::mode(steady_time now) const {
    if (paused_) return lane_mode::paused;
    if (now < rests_until_) return lane_mode::throttled;
    if (now < no_route_until_) return lane_mode::no_route;
    switch (breaker.current()) {
        case breaker::state::open: return lane_mode::open;
        case breaker::state::probing: return lane_mode::probing;
        case breaker::state::closed: break;
    }
    return lane_mode::running;
}

permit lane_gate::may_send(steady_time now) const {
    const auto is = mode(now);
    const bool shut = is == lane_mode::paused || is == lane_mode::throttled;
    return shut ? permit::none : breaker.permits(now);
}

permit lane_gate::may_take(steady_time now) const {
    return mode(now) == lane_mode::no_route ? permit::none : may_send(now);
}

std::optional<steady_time> lane_gate::changes_at(steady_time now) const {
    switch (mode(now)) {
        case lane_mode::throttled: return rests_until_;
        case lane_mode::open:
            if (breaker.probe_at() > now) return breaker.probe_at();
            break;
        case lane_mode::no_route: return no_route_until_;
        case lane_mode::paused:
        case lane_mode::probing:
        case lane_mode::running: break;
    }
    return std::nullopt;
}

void lane_gate::rest_until(steady_time end) { rests_until_ = std::max(rests_until_, end); }

void lane_gate::try_now(steady_time now) {
    rests_until_ = {};
    look_for_route();
    breaker.probe_now(now);
}

std::string_view to_string(lane_mode mode) noexcept {
    switch (mode) {
        case lane_mode::running: return "running";
        case lane_mode::paused: return "paused";
        case lane_mode::throttled: return "throttled";
        case lane_mode::no_route: return "no_route";
        case lane_mode::open: return "open";
        case lane_mode::probing: return "probing";
    }
    POSTHORN_ASSERT(false);
    return {};
}

}  // namespace posthorn
