#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "feature/node_builder.hpp"
#include "outbox/dispatch/sweep_board.hpp"
#include "outbox/lane/settle_board.hpp"

namespace posthorn {

/// What is seen of one database of a node, beside the messages in it.
struct database_signs {
    std::optional<error> write_failure{};     // See `store::write_trouble`.
    std::chrono::nanoseconds longest_wait{};  // See `store::longest_wait`.
    bool is_stuck = false;                    // The watchdog says so, and why.
    std::string lost_file{};                  // See `file_upkeep::lost_file`.
    settle_report settling{};
    std::optional<sweep_trouble> sweeps_fail{};
    std::string odd_arrival{};                   // See `taken_in::odd`.
    std::optional<wall_time> newest_at_start{};  // The latest time in it when it was opened.
    wall_time now{};
    steady_time steady_now{};
};

struct database_verdict {
    std::vector<std::string> broken{};  // Why the node does not work; it may mend itself.
    std::vector<health_worry> worries{};
};

// Of sweeps that fail, too.
inline constexpr std::chrono::seconds wait_green_below{3};
inline constexpr std::chrono::seconds wait_red_from{10};

/// What the signs mean for health. Pure.
///
/// | seen                                                          | health                    |
/// |---------------------------------------------------------------|---------------------------|
/// | a file of the database was deleted or replaced                | red, the node is not well |
/// | the last write failed, for a reason of the store              | the same                  |
/// | a write has waited for 10 s, and no handler is to blame       | the same                  |
/// | a write has waited for 3 s                                    | yellow                    |
/// | every look for messages in the table has failed for 10 s      | red, the node is not well |
/// | the same for 3 s                                              | yellow                    |
/// | a message in the table cannot be taken in; others go on       | red                       |
/// | outcomes of messages cannot be recorded                       | yellow                    |
/// | the clock is more than five minutes behind what was done here | yellow                    |
[[nodiscard]] database_verdict judge_database(const database_signs& seen);

/// That the clock is behind, and what follows from it; empty if it is not.
[[nodiscard]] std::string describe_lag(wall_time now, std::optional<wall_time> newest);

}  // namespace posthorn
