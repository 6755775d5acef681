#include "standby/archive/stretch.hpp"

#include <algorithm>

#include "standby/archive/archive_file.hpp"
#include "store/sqlite/driver/backup_files.hpp"

namespace posthorn::standby {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t time_characters = sizeof("20260214T120000Z") - 1;
constexpr std::size_t tag_characters = 8;

/// Adds what the file says of itself, or that it cannot be read.
void add_file(stretch& to, const fs::path& file) {
    const auto name = file.filename().string();
    const auto segment = number_in(name, "log-");
    const auto base = number_in(name, "base-");
    if (!segment && !base) return;
    std::error_code unusable;
    const auto size = static_cast<std::uint64_t>(fs::file_size(file, unusable));
    const auto opened = archive_reader::open(file);
    if (opened && segment) {
        const auto facts = decode_segment_head(opened->head());
        if (facts && facts->number == *segment && body_size_of(*facts) == opened->body_size()) {
            to.segments.push_back({*facts, size});
            return;
        }
    }
    if (opened && base) {
        const auto facts = decode_base_head(opened->head());
        if (facts && facts->whole == *base && facts->bytes == opened->body_size()) {
            to.bases.push_back({*facts, size});
            return;
        }
    }
    to.damaged.push_back(name);
}

/// Whether what a base needs is there up to where it is whole.
bool is_usable(const stretch& in, const base_facts& base) {
    for (auto number = base.needs; number <= base.whole; ++number)
        if (in.find(number) == nullptr) return false;
    return true;
}

}  // namespace

const stretch::kept_segment* stretch::find(std::uint64_t number) const {
    const auto found = std::ranges::lower_bound(
        segments, number, {}, [](const kept_segment& each) { return each.facts.number; });
    return found != segments.end() && found->facts.number == number ? &*found : nullptr;
}

std::optional<wall_time> stretch::oldest() const {
    for (const auto& each : bases)
        if (is_usable(*this, each.facts)) return each.facts.whole_at;
    return std::nullopt;
}

std::optional<wall_time> stretch::newest() const {
    if (segments.empty()) return std::nullopt;
    return segments.back().facts.last_at;
}

std::uint64_t stretch::bytes() const {
    std::uint64_t all = 0;
    for (const auto& each : segments) all += each.file_bytes;
    for (const auto& each : bases) all += each.file_bytes;
    return all;
}

std::vector<std::uint64_t> missing_segments(const stretch& of) {
    constexpr std::size_t told_max = 100;
    std::vector<std::uint64_t> missing;
    if (of.segments.empty()) return missing;
    auto next = of.segments.front().facts.number;
    for (const auto& each : of.segments) {
        for (; next < each.facts.number && missing.size() < told_max; ++next)
            missing.push_back(next);
        next = each.facts.number + 1;
    }
    return missing;
}

std::vector<archive_gap> gaps_between(std::span<const stretch> all) {
    std::vector<archive_gap> gaps;
    for (const auto& each : all) {
        const auto begins = each.oldest();
        if (!gaps.empty() && !gaps.back().to && begins) gaps.back().to = begins;
        const auto ends = each.newest();
        if (&each != &all.back() && ends && (begins || !gaps.empty())) {
            // Two in a row of which the second had no base are one gap.
            if (gaps.empty() || gaps.back().to) gaps.push_back({.from = *ends});
        }
    }
    return gaps;
}

std::string stretch_name(std::string_view database, wall_time begun, std::uint32_t tag) {
    return fmt::format("{}-{}-{:08x}", database, sqlite::to_name_part(begun), tag);
}

bool is_stretch_name(std::string_view name, std::string_view database) {
    constexpr std::size_t rest = time_characters + tag_characters + 2;
    if (name.size() != database.size() + rest || !name.starts_with(database)) return false;
    name.remove_prefix(database.size());
    if (name.front() != '-' || name[time_characters + 1] != '-') return false;
    const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
    return std::ranges::all_of(name.substr(1, 8), is_digit) && name[9] == 'T' &&
           std::ranges::all_of(name.substr(10, 6), is_digit) && name[16] == 'Z' &&
           name.substr(time_characters + 2).find_first_not_of("0123456789abcdef") ==
               std::string_view::npos;
}

std::string archived_name(const fs::path& database) { return database.stem().string(); }

result<stretch> scan_stretch(const fs::path& folder) {
    stretch found{.folder = folder};
    std::error_code failure;
    for (fs::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure))
        add_file(found, each->path());
    if (failure)
        return fail(error_code::io_failed, "cannot look into {}: {}", folder.string(),
                    failure.message());
    std::ranges::sort(found.segments, {}, [](const auto& each) { return each.facts.number; });
    std::ranges::sort(found.bases, {}, [](const auto& each) { return each.facts.whole; });
    std::ranges::sort(found.damaged);
    return found;
}

result<std::vector<stretch>> scan_archive(const fs::path& folder, std::string_view database) {
    std::vector<fs::path> folders;
    std::error_code failure;
    if (!fs::exists(folder, failure) && !failure) return std::vector<stretch>{};
    for (fs::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure))
        if (is_stretch_name(each->path().filename().string(), database))
            folders.push_back(each->path());
    if (failure)
        return fail(error_code::io_failed, "cannot look into {}: {}", folder.string(),
                    failure.message());
    std::ranges::sort(folders);
    std::vector<stretch> all;
    for (const auto& each : folders) {
        POSTHORN_LET(found, scan_stretch(each));
        all.push_back(std::move(found));
    }
    return all;
}

}  // namespace posthorn::standby
