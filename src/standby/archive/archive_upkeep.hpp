#pragma once

#include <chrono>

#include "standby/archive/stretch.hpp"

namespace posthorn::standby {

/// How long, and how much of it, an archive is kept.
struct archive_limits {
    std::chrono::milliseconds keep{};
    std::uint64_t bytes_max = 0;  // Zero: no limit.
};

/// Files that are not needed any more, in the order in which they are to be removed: after each of
/// them what is left is whole. Pure.
///
/// Every moment within `keep` stays restorable, as far as the limit of bytes allows it; the newest
/// base that can be used, and all after it, always stays.
[[nodiscard]] std::vector<std::filesystem::path> outdated_files(std::span<const stretch> all,
                                                                wall_time now,
                                                                const archive_limits& limits);

/// When the next base is to be begun. Pure.
struct base_question {
    std::optional<wall_time> newest{};  // Base of this stretch.
    wall_time now{};
    std::chrono::milliseconds every{};
    std::uint64_t bytes_since = 0;  // Of segments that were written since.
    std::uint64_t bytes_max = 0;    // Of the archive; zero: no limit.
};
/// One is due where there is none, after `every`, and where what came since takes a half of the
/// room, since only a newer base lets it go.
[[nodiscard]] bool is_base_due(const base_question& asked);

}  // namespace posthorn::standby
