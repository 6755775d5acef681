#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/histogram.hpp"

namespace posthorn {

/// What a line of the history is about.
enum class history_kind : char {
    outbox = 'o',  // All that is sent.
    destination = 'd',
    inbox = 'i',  // All that is taken in.
    endpoint = 'e',
};

struct history_key {
    history_kind kind = history_kind::outbox;
    std::string name{};  // Of the destination or endpoint.

    auto operator<=>(const history_key&) const = default;
};

/// What happened in a span of time, and how it was at its end.
struct history_numbers {
    std::uint64_t done = 0;        // Sent, or taken in with effect.
    std::uint64_t failed = 0;      // Attempts that failed.
    std::uint64_t dead = 0;        // Given up or expired.
    std::uint64_t duplicates = 0;  // Of the inbox.
    std::int64_t waiting = 0;
    std::int64_t oldest_ms = 0;  // The age of the oldest that waits.
    duration_counts took{};

    [[nodiscard]] bool is_idle() const;
    bool operator==(const history_numbers&) const = default;
};

using history_lines = std::map<history_key, history_numbers>;

/// The numbers of one span.
struct history_sample {
    wall_time at{};  // When it begins.
    std::chrono::seconds step{1};
    history_lines lines{};

    bool operator==(const history_sample&) const = default;
};

// All of the following are pure.

/// What counters that only rise have risen by. One that is lower than before began anew.
[[nodiscard]] history_lines difference(const history_lines& now, const history_lines& before);

/// Adds what follows in time: counts are added, and what waits is that of the later one.
void append(history_lines& to, const history_lines& later);

/// Adds what another node did in the same time. What waits is what the nodes share, so the larger
/// number stands.
void merge(history_numbers& to, const history_numbers& other);

/// Of each kind with names at most `names_max` lines, the busiest; the others become one, `other`.
/// Lines on which nothing happened and nothing waits are left out, but not those of all.
[[nodiscard]] history_lines bounded(history_lines lines, std::size_t names_max);

/// `3:12,5:1` for twelve in the part 3 and one in the part 5; empty for none.
[[nodiscard]] std::string encode(const duration_counts& took);
/// What does not look like that counts nothing.
[[nodiscard]] duration_counts decode(std::string_view text);

/// The time that so many of a hundred did not exceed, in microseconds, by the line through the part
/// that it lies in; zero where nothing was counted. `took` is as `duration_counts`.
[[nodiscard]] double percentile_us(std::span<const double> took, double percent);

}  // namespace posthorn
