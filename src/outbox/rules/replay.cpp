#include "outbox/rules/replay.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace posthorn {
namespace {

constexpr double least_part = 0.1;  // Of the rate.

replay_state begin_replay(steady_time at, const replay_options& how) {
    return {.phase = replay_phase::replaying,
            .since = at,
            .rate_from = how.rate * least_part,
            .rises_from = at};
}

}  // namespace

double replay_rate(const replay_state& is, steady_time now, const replay_options& how) {
    if (is.phase != replay_phase::replaying) return how.rate * least_part;
    if (how.ramp.count() <= 0) return how.rate;
    const std::chrono::duration<double> gone = now - is.rises_from;
    const std::chrono::duration<double> whole = how.ramp;
    const double gained = how.rate * (1 - least_part) * (gone / whole);
    return std::min(is.rate_from + gained, how.rate);
}

replay_state step(replay_state is, replay_event what, steady_time now, const replay_options& how) {
    using enum replay_phase;
    if (is.phase == settling && now - is.since >= how.settle_time)
        is = begin_replay(is.since + how.settle_time, how);
    switch (what) {
        case replay_event::time_passed: break;
        case replay_event::opened:
            if (is.phase != outage) is = {.phase = outage, .since = now};
            break;
        case replay_event::answered:
            if (is.phase == outage) is = {.phase = settling, .since = now};
            break;
        case replay_event::strained:
            if (is.phase == settling) is.since = now;
            if (is.phase != replaying) break;
            is.rate_from = std::max(replay_rate(is, now, how) / 2, how.rate * least_part);
            is.rises_from = now;
            break;
        case replay_event::drained:
            if (is.phase == replaying) is = {.phase = live, .since = now};
            break;
    }
    return is;
}

std::string_view to_string(replay_phase phase) noexcept {
    switch (phase) {
        case replay_phase::live: return "live";
        case replay_phase::outage: return "outage";
        case replay_phase::settling: return "settling";
        case replay_phase::replaying: return "replaying";
    }
    POSTHORN_ASSERT(false);
    return {};
}

}  // namespace posthorn
