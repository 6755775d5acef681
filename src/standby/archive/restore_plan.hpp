#pragma once

#include <optional>
#include <span>

#include "standby/archive/stretch.hpp"

namespace posthorn::standby {

/// What is to be played over which base.
struct restore_plan {
    std::size_t stretch = 0;
    base_facts base{};
    /// From `base.needs` on; the last of them up to its last commit of the moment asked for.
    std::vector<segment_facts> segments{};
    std::optional<wall_time> until{};  // Empty: all that there is.
};

/// How to come to a moment, or to the newest if there is none. Pure.
///
/// The state is that after the last commit whose time is not after the moment; where the clock was
/// set back, the last in the order of the log counts. The stretch is the last one that had begun by
/// then, and the base the newest that is whole by then.
///
/// `error_code::not_found` where there is nothing, or nothing that old, and in a gap, naming the
/// nearest moments that can be restored; `error_code::store_corrupt`, naming the file, where one is
/// missing or damaged.
[[nodiscard]] result<restore_plan> plan_restore(std::span<const stretch> all,
                                                std::optional<wall_time> moment);

/// The last commit in a segment that is not after the moment; empty if all are.
[[nodiscard]] std::optional<commit_mark> last_until(std::span<const commit_mark> marks,
                                                    std::optional<wall_time> moment);

}  // namespace posthorn::standby
