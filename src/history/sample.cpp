#include "history/sample.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace posthorn {
namespace {

constexpr std::string_view other = "other";

std::uint64_t risen(std::uint64_t now, std::uint64_t before) {
    return now >= before ? now - before : now;
}

void add_counts(history_numbers& to, const history_numbers& more) {
    to.done += more.done;
    to.failed += more.failed;
    to.dead += more.dead;
    to.duplicates += more.duplicates;
    add_durations(to.took, more.took);
}

std::uint64_t weight(const history_numbers& of) {
    return of.done + of.failed + of.dead + of.duplicates + static_cast<std::uint64_t>(of.waiting);
}

bool has_names(history_kind kind) {
    return kind == history_kind::destination || kind == history_kind::endpoint;
}

void sum_up_least(history_lines& lines, history_kind kind, std::size_t names_max) {
    std::vector<history_lines::iterator> of_kind;
    for (auto at = lines.begin(); at != lines.end(); ++at)
        if (at->first.kind == kind && at->first.name != other) of_kind.push_back(at);
    if (of_kind.size() <= names_max) return;
    std::ranges::sort(of_kind, [](const auto& a, const auto& b) {
        const auto a_weight = weight(a->second);
        const auto b_weight = weight(b->second);
        return a_weight != b_weight ? a_weight > b_weight : a->first < b->first;
    });
    auto& rest = lines[{kind, std::string(other)}];
    for (std::size_t i = names_max; i < of_kind.size(); ++i) {
        const auto& numbers = of_kind[i]->second;
        add_counts(rest, numbers);
        rest.waiting += numbers.waiting;
        rest.oldest_ms = std::max(rest.oldest_ms, numbers.oldest_ms);
        lines.erase(of_kind[i]);
    }
}

}  // namespace

bool history_numbers::is_idle() const { return weight(*this) == 0; }

history_lines difference(const history_lines& now, const history_lines& before) {
    history_lines risen_by;
    for (const auto& [key, numbers] : now) {
        const auto found = before.find(key);
        const history_numbers earlier = found != before.end() ? found->second : history_numbers{};
        auto& into = risen_by[key];
        into = numbers;
        into.done = risen(numbers.done, earlier.done);
        into.failed = risen(numbers.failed, earlier.failed);
        into.dead = risen(numbers.dead, earlier.dead);
        into.duplicates = risen(numbers.duplicates, earlier.duplicates);
        for (std::size_t i = 0; i < into.took.size(); ++i)
            into.took[i] = risen(numbers.took[i], earlier.took[i]);
    }
    return risen_by;
}

void append(history_lines& to, const history_lines& later) {
    // A line that is not in the later one has nothing that waits any more.
    for (auto& [key, numbers] : to) numbers.waiting = numbers.oldest_ms = 0;
    for (const auto& [key, numbers] : later) {
        auto& into = to[key];
        add_counts(into, numbers);
        into.waiting = numbers.waiting;
        into.oldest_ms = numbers.oldest_ms;
    }
}

void merge(history_numbers& to, const history_numbers& other_node) {
    add_counts(to, other_node);
    to.waiting = std::max(to.waiting, other_node.waiting);
    to.oldest_ms = std::max(to.oldest_ms, other_node.oldest_ms);
}

history_lines bounded(history_lines lines, std::size_t names_max) {
    std::erase_if(lines, [](const auto& line) {
        return has_names(line.first.kind) && line.second.is_idle();
    });
    sum_up_least(lines, history_kind::destination, names_max);
    sum_up_least(lines, history_kind::endpoint, names_max);
    return lines;
}

std::string encode(const duration_counts& took) {
    std::string text;
    for (std::size_t i = 0; i < took.size(); ++i)
        if (took[i] > 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, took[i]);
    return text;
}

duration_counts decode(std::string_view text) {
    duration_counts took{};
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        std::size_t part = 0;
        std::uint64_t count = 0;
        const auto part_read = std::from_chars(at, end, part);
        if (part_read.ec != std::errc{} || part >= took.size() || part_read.ptr == end ||
            *part_read.ptr != ':')
            return {};
        const auto count_read = std::from_chars(part_read.ptr + 1, end, count);
        if (count_read.ec != std::errc{}) return {};
        took[part] += count;
        at = count_read.ptr;
        if (at < end && *at++ != ',') return {};
    }
    return took;
}

double percentile_us(std::span<const double> took, double percent) {
    double all = 0;
    for (const auto one : took) all += one;
    if (all <= 0) return 0;
    const double wanted = all * percent / 100;
    double below = 0;
    for (std::size_t i = 0; i < took.size(); ++i) {
        const auto here = took[i];
        if (here <= 0 || below + here < wanted) {
            below += here;
            continue;
        }
        const double low = i == 0 ? 0 : static_cast<double>(duration_bounds_us[i - 1]);
        // Nothing is known above the last bound but that it was exceeded.
        if (i == duration_bounds_us.size()) return low;
        const auto high = static_cast<double>(duration_bounds_us[i]);
        return low + (high - low) * (wanted - below) / here;
    }
    return static_cast<double>(duration_bounds_us.back());
}

}  // namespace posthorn
