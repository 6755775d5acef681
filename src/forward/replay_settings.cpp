#include "forward/replay_settings.hpp"

#include "base/text/utf8.hpp"
#include "forward/forward_terms.hpp"

namespace posthorn {

result<replay_options> read_replay(const feature_settings& said) {
    using std::chrono::milliseconds;
    replay_options how{.settle_time = said.get<milliseconds>("replay_settle_time"),
                       .rate = said.get<double>("replay_rate"),
                       .ramp = said.get<milliseconds>("replay_ramp")};
    const auto& order = said.get<std::string>("replay_order");
    if (how.rate < 0 || how.rate > 1e6)
        return fail(error_code::invalid_configuration,
                    "forward.replay_rate is {}; give messages a second up to 1000000, or 0 for no "
                    "limit",
                    how.rate);
    if (how.settle_time.count() < 0 || how.ramp.count() < 0)
        return fail(error_code::invalid_configuration,
                    "forward.replay_settle_time and forward.replay_ramp are not less than nothing");
    if (order != "oldest" && order != "newest")
        return fail(error_code::invalid_configuration,
                    "forward.replay_order is '{}'; write \"oldest\" or \"newest\"",
                    clean_utf8(order, 100));
    how.newest_first = order == "newest";
    return how;
}

std::vector<target_replay> targets_behind(const std::vector<const outbox_counters*>& outbox) {
    std::vector<target_replay> all;
    for (const auto* const each : outbox) {
        for (const auto& lane : each->board.list()) {
            const auto to = forward_place_of(lane.destination);
            if (!to || lane.replay == replay_phase::live) continue;
            all.push_back({.category = std::string(to->category),
                           .target = std::string(to->target),
                           .phase = lane.replay,
                           .rate = lane.replay_rate});
        }
    }
    return all;
}

}  // namespace posthorn
