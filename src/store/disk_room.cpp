#include "store/disk_room.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t next_to_none = mib;

}  // namespace

std::string_view to_string(disk_state state) noexcept {
    switch (state) {
        case disk_state::enough: return "enough";
        case disk_state::scarce: return "scarce";
        case disk_state::low: return "low";
        case disk_state::full: return "full";
    }
    POSTHORN_ASSERT(false);
    return {};
}

disk_step judge_disk(disk_state before, const disk_facts& seen, const disk_limits& limits) {
    using enum disk_state;
    using act = disk_step::act;
    const bool is_watched = limits.low_water > 0;
    const auto give_up = seen.has_ballast ? act::give_up_ballast : act::none;
    const bool has_room = seen.free && *seen.free >= std::max(2 * limits.low_water, next_to_none);
    if (seen.commit_refused) return {has_room ? enough : full, give_up};
    if (is_watched && seen.free && *seen.free < next_to_none) return {full, give_up};
    if (!seen.free) return {before == full ? (is_watched ? low : enough) : before, act::none};

    const bool lacks_ballast = limits.ballast > 0 && !seen.has_ballast;
    // A quarter above, so that it does not go to and fro at the mark.
    const auto comfortable =
        limits.low_water + limits.low_water / 4 + (lacks_ballast ? limits.ballast : 0);
    const auto what = lacks_ballast && *seen.free >= comfortable ? act::make_ballast : act::none;
    if (!is_watched) return {enough, what};
    if (*seen.free < (may_grow(before) ? limits.low_water : comfortable)) return {low, act::none};
    return {*seen.free < 2 * limits.low_water ? scarce : enough, what};
}

std::string describe(const disk_report& report) {
    const auto left = report.free ? fmt::format("{} MiB", *report.free / mib) : "little";
    switch (report.state) {
        case disk_state::enough: return {};
        case disk_state::scarce:
            return fmt::format(
                "the disk has {} left; at {} MiB no new messages are taken: free space on it", left,
                report.limits.low_water / mib);
        case disk_state::low:
            return fmt::format(
                "the disk has {} left, and below {} MiB no new messages are taken; those that are "
                "there still go out: free space on it",
                left, report.limits.low_water / mib);
        case disk_state::full:
            return "the disk is full and no new messages are taken; free space on it, nothing was "
                   "lost";
    }
    POSTHORN_ASSERT(false);
    return {};
}

}  // namespace posthorn
