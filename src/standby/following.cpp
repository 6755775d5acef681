#include "standby/following.hpp"

#include <array>

#include "standby/promotion.hpp"
#include "standby/shipping.hpp"

namespace posthorn::standby {
namespace {

bool is_served(const follow_report& seen) {
    return seen.has_primary && seen.silent_for && *seen.silent_for < silence_max;
}

std::string silence_of(const follow_report& seen) {
    if (!seen.silent_for) return "since it was started";
    return fmt::format("for {} s",
                       std::chrono::floor<std::chrono::seconds>(*seen.silent_for).count());
}

}  // namespace

std::vector<health_worry> worries_of(const follow_report& seen) {
    std::vector<health_worry> all;
    if (!is_served(seen))
        all.push_back(
            {health_level::yellow,
             fmt::format("no primary has come {}{}; see that it runs and that its "
                         "standby.to leads here, or promote this copy if it is lost",
                         silence_of(seen),
                         seen.trouble.empty() ? "" : fmt::format(" ({})", seen.trouble))});
    if (seen.state.phase == standby_phase::copying)
        all.push_back({health_level::yellow,
                       "the copy is not whole yet; until it is, it cannot be promoted"});
    return all;
}

boost::json::object to_json(const pair_state& kept) {
    return {{"role", kept.as == pair_state::role::primary ? "primary" : "standby"},
            {"phase", to_string(kept.phase)},
            {"epoch", kept.epoch},
            {"stream", to_hex(kept.stream)},
            {"began", began_of(kept)},
            {"lostByPromotion", kept.as == pair_state::role::primary ? "-" : loss_of(kept)}};
}

boost::json::object to_json(const follow_report& seen) {
    auto told = to_json(seen.state);
    told["position"] = seen.at.offset;
    told["hasPrimary"] = is_served(seen);
    told["service"] = seen.service;
    if (seen.silent_for)
        told["silentSeconds"] = std::chrono::duration<double>(*seen.silent_for).count();
    told["trouble"] = seen.trouble;
    return told;
}

void write_metrics(prometheus_text& text, const follow_report& seen) {
    text.begin("posthorn_standby_phase", "gauge", "1 for what this copy is.");
    for (const auto each : {standby_phase::empty, standby_phase::copying, standby_phase::following,
                            standby_phase::promoted})
        text.sample(seen.state.phase == each ? 1 : 0, {{"phase", to_string(each)}});
    text.gauge("posthorn_standby_has_primary", "Whether a primary is connected and speaks.",
               is_served(seen) ? 1 : 0);
    if (seen.silent_for)
        text.gauge("posthorn_standby_silent_seconds", "How long ago the primary last spoke.",
                   std::chrono::duration<double>(*seen.silent_for).count());
    text.gauge("posthorn_standby_position_bytes", "Where the log ends on this disk.",
               static_cast<double>(seen.at.offset));
    text.gauge("posthorn_standby_epoch", "Raised by each promotion.",
               static_cast<double>(seen.state.epoch));
}

}  // namespace posthorn::standby
