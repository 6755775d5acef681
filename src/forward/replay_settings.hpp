#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "feature/settings.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "outbox/rules/replay.hpp"

namespace posthorn {

/// How targets are served after an outage: the keys `replay_…`. `error_code::invalid_configuration`
/// with what to write.
[[nodiscard]] result<replay_options> read_replay(const feature_settings& said);

/// A target that is out, or whose backlog is being worked off.
struct target_replay {
    std::string category;
    std::string target;
    replay_phase phase = replay_phase::live;
    double rate = 0;  // Of the backlog, a second; zero: no limit.
};

/// Those that are not simply live.
[[nodiscard]] std::vector<target_replay> targets_behind(
    const std::vector<const outbox_counters*>& outbox);

}  // namespace posthorn
