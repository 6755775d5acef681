#include "lease/dispatch_lease.hpp"

namespace posthorn {
namespace {

using event_kind = lease_event::kind;
using state_kind = lease_state::kind;

lease_step look(const lease_state& state, const lease_event& event, const lease_terms& terms) {
    if (event.what != event_kind::looked) return {state, lease_action::look_later};
    lease_state next = state;
    if (next.seen != event.now || !next.seen) {
        next.seen = event.now;
        next.since = event.at;
    }
    const bool free = !next.seen || next.seen->owner == terms.owner || event.owner_is_gone ||
                      event.at - next.since >= terms.duration;
    if (!free) return {next, lease_action::look_later};
    next.what = state_kind::taking;
    return {next, lease_action::take};
}

lease_step take(const lease_state& state, const lease_event& event) {
    if (event.what == event_kind::took && event.now)
        return {{.what = state_kind::holder, .since = event.at, .epoch = event.now->epoch},
                lease_action::begin};
    lease_state next = state;
    next.what = state_kind::standby;
    return {next, lease_action::look_later};
}

lease_step hold(const lease_state& state, const lease_event& event, const lease_terms& terms) {
    constexpr auto stand_down = lease_action::stand_down;
    switch (event.what) {
        case event_kind::beaten: {
            lease_state next = state;
            next.since = event.at;
            return {next, lease_action::beat_later};
        }
        case event_kind::refused: return {{}, stand_down};
        default: break;
    }
    if (event.at - state.since >= terms.duration) return {{}, stand_down};
    return {state, lease_action::beat_soon};
}

}  // namespace

lease_step step(const lease_state& state, const lease_event& event, const lease_terms& terms) {
    switch (state.what) {
        case state_kind::standby: return look(state, event, terms);
        case state_kind::taking: return take(state, event);
        case state_kind::holder: break;
    }
    return hold(state, event, terms);
}

}  // namespace posthorn
