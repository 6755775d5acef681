#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/async/task.hpp"
#include "outbox/lane/lane_board.hpp"
#include "store/store.hpp"

namespace posthorn {

/// A destination's lane, as the node that runs it and the table of pauses tell of it.
struct lane_report {
    lane_state lane;
    bool runs = false;  // A node serves it now; otherwise only what the database says is known.
    std::optional<paused_destination> pause{};
    std::int64_t pending = 0;  // In the table, with those that the lane holds.

    bool operator==(const lane_report&) const = default;
};

/// What is known of each destination, in the order of their names. A destination that two
/// dispatchers serve, since the inbox has a database of its own, is one of them: the one that is
/// shut, if one is. Pure.
[[nodiscard]] std::vector<lane_report> merge_lanes(
    std::vector<lane_state> lanes, std::vector<paused_destination> paused,
    const std::vector<destination_backlog>& backlog = {});

/// `error_code::invalid_argument` if the name cannot be that of a destination.
[[nodiscard]] result<> check_destination(std::string_view name);

/// The pauses of all stores. Blocks.
[[nodiscard]] result<std::vector<paused_destination>> list_pauses(std::span<store* const> stores);

struct pause_change {
    std::string destination;
    bool paused = false;   // Wanted.
    std::string reason{};  // For people, when it is paused.
    wall_time at{};
};

/// In every store. Gives whether anything changed: to pause what is paused is not an error.
/// `error_code::invalid_argument` if the name cannot be one.
task<result<bool>> change_pause(std::vector<store*> stores, pause_change wanted);
/// The same, blocking.
[[nodiscard]] result<bool> change_pause(store& where, const pause_change& wanted);

/// What the endpoints and `--json` show.
[[nodiscard]] boost::json::object to_json(const std::vector<lane_report>& lanes);
[[nodiscard]] boost::json::object to_json(const pause_change& done, bool changed);

/// Why people should look: lanes whose messages do not get through, with the cause, and lanes that
/// an operator paused. Pure.
[[nodiscard]] std::vector<std::string> reasons_of(const std::vector<lane_report>& lanes);

}  // namespace posthorn
