#include "standby/archive/restore_plan.hpp"

#include <algorithm>
#include <ranges>

namespace posthorn::standby {
namespace {

std::unexpected<error> nothing_there() {
    return fail(error_code::not_found,
                "the archive holds nothing that can be restored; see that standby.archive names "
                "its folder, and that a base was finished there ('posthorn restore --list')");
}

std::unexpected<error> too_old(wall_time moment, wall_time oldest) {
    return fail(error_code::not_found,
                "the archive does not reach back to {}; the oldest moment that it can restore is "
                "{}, and backups may be older",
                to_iso8601(moment), to_iso8601(oldest));
}

std::unexpected<error> in_a_gap(wall_time moment, wall_time before,
                                std::optional<wall_time> after) {
    return fail(error_code::not_found,
                "{} lies in a gap of the archive; restore the last moment before it, {}{}",
                to_iso8601(moment), to_iso8601(before),
                after ? fmt::format(", or the first after it, {}", to_iso8601(*after)) : "");
}

/// The stretch that a moment is in.
result<std::size_t> find_stretch(std::span<const stretch> all, std::optional<wall_time> moment) {
    std::optional<std::size_t> found;
    std::optional<wall_time> oldest;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto begins = all[i].oldest();
        if (!begins) continue;
        if (!oldest || *begins < *oldest) oldest = begins;
        if (!moment || *begins <= *moment) found = i;
    }
    if (!oldest) return nothing_there();
    if (!found) return too_old(*moment, *oldest);
    const auto ends = *all[*found].newest();
    if (!moment || *moment <= ends || *found + 1 == all.size()) return *found;
    std::optional<wall_time> after;
    for (const auto& each : all.subspan(*found + 1))
        if (!after) after = each.oldest();
    return in_a_gap(*moment, ends, after);
}

std::unexpected<error> lost(const stretch& in, std::uint64_t number) {
    const auto file = (in.folder / segment_name(number)).string();
    const bool is_damaged = std::ranges::find(in.damaged, segment_name(number)) != in.damaged.end();
    const auto* const before = in.find(number - 1);
    const auto until = before != nullptr
                           ? fmt::format("; what can be restored of this stretch ends at {}",
                                         to_iso8601(before->facts.last_at))
                           : std::string();
    return fail(error_code::store_corrupt, "{} {}{}", file,
                is_damaged ? "is damaged" : "is missing", until);
}

/// The number of the last segment with a commit of that time, and whether the moment is past all of
/// its commits.
struct last_piece {
    std::uint64_t number = 0;
    bool is_whole = false;
};

std::optional<last_piece> find_last(const stretch& in, std::optional<wall_time> moment) {
    for (const auto& each : std::views::reverse(in.segments))
        if (!moment || each.facts.first_at <= *moment)
            return last_piece{each.facts.number, !moment || each.facts.last_at <= *moment};
    return std::nullopt;
}

/// Whether what follows a segment was there once and cannot be read.
bool is_next_lost(const stretch& in, std::uint64_t number) {
    if (in.find(number + 1) != nullptr) return false;
    const bool is_damaged =
        std::ranges::find(in.damaged, segment_name(number + 1)) != in.damaged.end();
    return is_damaged || in.segments.back().facts.number > number;
}

}  // namespace

std::optional<commit_mark> last_until(std::span<const commit_mark> marks,
                                      std::optional<wall_time> moment) {
    for (const auto& each : std::views::reverse(marks))
        if (!moment || each.at <= *moment) return each;
    return std::nullopt;
}

result<restore_plan> plan_restore(std::span<const stretch> all, std::optional<wall_time> moment) {
    POSTHORN_LET(index, find_stretch(all, moment));
    const auto& in = all[index];
    const auto last = find_last(in, moment);
    if (!last) return too_old(*moment, *in.oldest());
    // It may hold commits of that time.
    if (last->is_whole && is_next_lost(in, last->number) &&
        (!moment || *moment > in.find(last->number)->facts.last_at))
        return lost(in, last->number + 1);
    const base_facts* base = nullptr;
    for (const auto& each : in.bases)
        if (each.facts.whole < last->number || (each.facts.whole == last->number && last->is_whole))
            base = &each.facts;
    if (base == nullptr) return too_old(*moment, *in.oldest());
    restore_plan plan{.stretch = index, .base = *base, .until = moment};
    for (auto number = base->needs; number <= last->number; ++number) {
        const auto* const each = in.find(number);
        if (each == nullptr) return lost(in, number);
        plan.segments.push_back(each->facts);
    }
    return plan;
}

}  // namespace posthorn::standby
