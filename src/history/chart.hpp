#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "history/sample.hpp"

namespace posthorn {

/// The points of a chart: evenly spaced slots of time.
struct history_range {
    std::string_view name;      // `15m`.
    std::chrono::seconds step;  // Of a slot.
    std::size_t slots;
    std::chrono::seconds kept_by;  // The step of the rows that are kept for so long.
};

inline constexpr std::array history_ranges{
    history_range{"15m", std::chrono::seconds{1}, 900, std::chrono::seconds{10}},
    history_range{"6h", std::chrono::seconds{30}, 720, std::chrono::seconds{10}},
    history_range{"7d", std::chrono::minutes{10}, 1008, std::chrono::minutes{1}},
};

/// Where the slots of a range begin that end before `now`, so that none of them goes on.
[[nodiscard]] wall_time begin_of(const history_range& range, wall_time now);

/// One line of one node in one span.
struct history_row {
    wall_time at{};
    std::chrono::seconds step{1};
    std::string node{};
    history_key key{};
    history_numbers numbers{};

    bool operator==(const history_row&) const = default;
};

/// What happened in a slot. Counts are those of a second; nothing is known of a slot that has no
/// row, since no node ran.
struct history_point {
    double done = 0;
    double failed = 0;
    double dead = 0;
    double duplicates = 0;
    double came = 0;  // What was put into the outbox: what left it, and what it has grown by.
    double p50_ms = 0;
    double p99_ms = 0;
    std::int64_t waiting = 0;    // The most,
    std::int64_t oldest_ms = 0;  // and the oldest.

    bool operator==(const history_point&) const = default;
};
using history_chart = std::vector<std::optional<history_point>>;

/// Puts rows of one line, in order of their times and of any number of nodes, into the slots of a
/// range. A row that is longer than a slot is spread over those that it covers. Pure.
[[nodiscard]] history_chart lay_out(std::span<const history_row> rows, const history_range& range,
                                    wall_time from);

}  // namespace posthorn
