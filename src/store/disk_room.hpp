#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace posthorn {

/// How much room a disk must have; nothing is asked of it where both are zero.
struct disk_limits {
    std::uint64_t low_water = 0;  // Bytes free; with fewer no new message is taken.
    std::uint64_t ballast = 0;    // Bytes of a file that is given up when the disk is full.
};

/// How a disk is.
enum class disk_state : std::uint8_t {
    enough,
    scarce,  // Not far from the low-water mark.
    low,     // Below it: no new message is taken; those that are there go out and go.
    full,    // A commit found no room, or next to none is left.
};

[[nodiscard]] std::string_view to_string(disk_state state) noexcept;

/// What is seen of a disk in one look.
struct disk_facts {
    std::optional<std::uint64_t> free{};  // Unknown if it cannot be told.
    bool has_ballast = false;
    bool commit_refused = false;  // For want of room, since the last look.
};

struct disk_step {
    enum class act : std::uint8_t { none, give_up_ballast, make_ballast };

    disk_state state = disk_state::enough;
    act what = act::none;

    bool operator==(const disk_step&) const = default;
};

/// What to think of the disk, and what to do with the ballast. Pure.
///
/// | before      | seen                                              | state  | ballast        |
/// |-------------|---------------------------------------------------|--------|----------------|
/// | any         | less than 1 MiB is free, or a commit was refused  |        |                |
/// |             | and less than twice the mark is free              | full   | is given up    |
/// | any         | a commit was refused, though there is room: a     |        |                |
/// |             | quota, or a limit of one table; not for all       | enough | is given up    |
/// | any         | below the mark                                    | low    |                |
/// | low or full | below the mark and a quarter (and the ballast, if |        |                |
/// |             | that is gone): no use to begin anew               | low    |                |
/// | any         | below twice the mark                              | scarce | is made if it  |
/// | any         | more                                              | enough | leaves so much |
[[nodiscard]] disk_step judge_disk(disk_state before, const disk_facts& seen,
                                   const disk_limits& limits);

/// Whether new messages are taken.
[[nodiscard]] constexpr bool may_grow(disk_state state) noexcept {
    return state == disk_state::enough || state == disk_state::scarce;
}

/// What others may know of the disk under a store.
struct disk_report {
    disk_state state = disk_state::enough;
    std::optional<std::uint64_t> free{};  // Empty if not looked at.
    bool has_ballast = false;
    std::uint64_t refused = 0;  // Messages, and receipts of messages, since the start.
    disk_limits limits{};
};

/// What is wrong, and what to do about it; empty if nothing is.
[[nodiscard]] std::string describe(const disk_report& report);

}  // namespace posthorn
