#include "standby/archive/archive_upkeep.hpp"

#include <algorithm>

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

/// Where what is kept begins: a base, and the stretch that it is in.
struct beginning {
    std::size_t stretch = 0;
    std::size_t base = 0;
};

/// Every base that can be used, oldest first.
std::vector<beginning> beginnings(std::span<const stretch> all) {
    std::vector<beginning> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t b = 0; b < all[i].bases.size(); ++b) {
            const auto& facts = all[i].bases[b].facts;
            bool is_usable = true;
            for (auto number = facts.needs; number <= facts.whole && is_usable; ++number)
                is_usable = all[i].find(number) != nullptr;
            if (is_usable) found.push_back({i, b});
        }
    }
    return found;
}

std::uint64_t bytes_from(std::span<const stretch> all, const beginning& from) {
    const auto& first = all[from.stretch];
    std::uint64_t bytes = 0;
    for (std::size_t b = from.base; b < first.bases.size(); ++b) bytes += first.bases[b].file_bytes;
    for (const auto& each : first.segments)
        if (each.facts.number >= first.bases[from.base].facts.needs) bytes += each.file_bytes;
    for (const auto& each : all.subspan(from.stretch + 1)) bytes += each.bytes();
    return bytes;
}

}  // namespace

std::vector<fs::path> outdated_files(std::span<const stretch> all, wall_time now,
                                     const archive_limits& limits) {
    const auto bases = beginnings(all);
    if (bases.empty()) return {};
    auto kept = bases.front();
    for (const auto& each : bases) {
        const auto& facts = all[each.stretch].bases[each.base].facts;
        const bool is_old_enough = facts.whole_at <= now - limits.keep;
        const bool is_too_much = limits.bytes_max != 0 && bytes_from(all, kept) > limits.bytes_max;
        if (is_old_enough || is_too_much) kept = each;
    }
    std::vector<fs::path> files;
    const auto add = [&](const stretch& of, std::uint64_t needs, std::size_t base) {
        // A base before its segments: without them it would be of no use.
        for (std::size_t b = 0; b < base; ++b) files.push_back(of.file_of(of.bases[b].facts));
        for (const auto& each : of.segments)
            if (each.facts.number < needs) files.push_back(of.file_of(each.facts));
    };
    for (const auto& each : all.first(kept.stretch)) {
        add(each, UINT64_MAX, each.bases.size());
        for (const auto& name : each.damaged) files.push_back(each.folder / name);
        files.push_back(each.folder);
    }
    const auto& first = all[kept.stretch];
    add(first, first.bases[kept.base].facts.needs, kept.base);
    return files;
}

bool is_base_due(const base_question& asked) {
    if (!asked.newest || asked.now - *asked.newest >= asked.every) return true;
    return asked.bytes_max != 0 && asked.bytes_since >= asked.bytes_max / 2;
}

}  // namespace posthorn::standby
