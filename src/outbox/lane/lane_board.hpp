#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "outbox/rules/lane_gate.hpp"
#include "outbox/rules/replay.hpp"

namespace posthorn {

/// A lane as people see it.
struct lane_state {
    std::string destination;
    lane_mode mode = lane_mode::running;
    breaker::state breaker = breaker::state::closed;
    std::optional<wall_time> since{};  // When it was shut, if it is.
    std::optional<wall_time> until{};  // When it goes on by itself, if it is shut and will.
    std::string cause{};               // Why messages do not get through; empty if they do.
    bool is_fault = false;             // The cause is one that a person should see to.
    std::size_t queued = 0;            // In memory; more may wait in the table.
    std::size_t in_flight = 0;         // Batches.
    std::size_t window = 0;            // How many batches may be.
    std::size_t batch = 0;             // Messages in one, at present,
    std::size_t batch_max = 0;         // and at most.
    double rate = 0;                   // Messages a second; zero: no limit.
    replay_phase replay = replay_phase::live;
    double replay_rate = 0;  // The same of the backlog, unless it is live.

    bool operator==(const lane_state&) const = default;
};

/// What the lanes last said of themselves, for people and their tools: at once when one shuts or
/// opens, otherwise about every second. At most a thousand are known.
///
/// Threads: any.
class lane_board {
public:
    void note(lane_state state);
    void forget(std::string_view destination);
    void clear();
    /// In the order of their names.
    [[nodiscard]] std::vector<lane_state> list() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, lane_state, std::less<>> lanes_;
};

}  // namespace posthorn
