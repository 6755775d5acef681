#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.hpp"
#include "store/lease_table.hpp"

namespace posthorn {

// Who dispatches. A stand-by watches the holder's beat by its own steady clock; a holder beats, and
// counts as one only as long as its last beat is younger than the lease, measured from before that
// beat was committed: so by its own clock it stops before another may take over.
//
// | state    | event                                        | next     | action     |
// |----------|----------------------------------------------|----------|------------|
// | stand-by | looked: it is free, or ours from before      | taking   | take       |
// | stand-by | looked: the holder is known to be gone       | taking   | take       |
// | stand-by | looked: the same beat for the whole lease    | taking   | take       |
// | stand-by | looked: anything else                        | stand-by | look later |
// | stand-by | failed                                       | stand-by | look later |
// | taking   | took                                         | holder   | begin      |
// | taking   | refused (another was quicker), failed        | stand-by | look later |
// | holder   | beaten                                       | holder   | beat later |
// | holder   | failed, or time passed: lease still young    | holder   | beat soon  |
// | holder   | failed, or time passed: lease ran out        | stand-by | stand down |
// | holder   | refused                                      | stand-by | stand down |
//
// Taking over touches no row, so it charges no attempt. Writes of an earlier holder are refused by
// their epoch, whatever its clock did.

inline constexpr std::string_view dispatcher_lease_name = "dispatcher";

struct lease_state {
    enum class kind : std::uint8_t { standby, taking, holder };
    kind what = kind::standby;
    std::optional<lease> seen{};  // Stand-by, taking: as last looked at.
    steady_time since{};          // Stand-by: when `seen` first looked so. Holder: the last beat.
    std::int64_t epoch = 0;       // Holder.

    bool operator==(const lease_state&) const = default;
};

struct lease_event {
    enum class kind : std::uint8_t { looked, took, beaten, refused, failed, time_passed };
    kind what = kind::looked;
    steady_time at{};            // Looked, failed, time passed: now. Took, beaten: when begun.
    std::optional<lease> now{};  // Looked: as found. Took: as taken.
    bool owner_is_gone = false;  // Looked: the process that holds it is known to be dead.
};

enum class lease_action : std::uint8_t {
    look_later,
    take,
    begin,
    beat_later,
    beat_soon,
    stand_down
};

struct lease_terms {
    std::string owner;
    std::chrono::nanoseconds duration{};
};

struct lease_step {
    lease_state next;
    lease_action action;

    bool operator==(const lease_step&) const = default;
};

/// Pure: no clock, no I/O.
[[nodiscard]] lease_step step(const lease_state& state, const lease_event& event,
                              const lease_terms& terms);

}  // namespace posthorn
