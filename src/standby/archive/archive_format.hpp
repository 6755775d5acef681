#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "standby/wal_format.hpp"

namespace posthorn::standby {

// What the files of an archive hold. Pure.
//
// Each begins with a head of `archive_head_size` bytes: a line that says what it is and a line of
// JSON, filled with spaces. Its body follows, and then the SHA-256 of body and head.

inline constexpr std::size_t archive_head_size = 2048;
inline constexpr std::size_t archive_sum_size = 32;

/// When a transaction of the log was on this disk.
struct commit_mark {
    std::uint64_t end = 0;  // Where it ends in its generation of the log.
    wall_time at{};

    bool operator==(const commit_mark&) const = default;
};

/// A piece of one generation of the log. Its body: the log's header, the frames, the marks.
struct segment_facts {
    std::string service{};
    std::uint64_t epoch = 0;   // Of a pair's primary; zero of one that never was of a pair.
    std::uint64_t number = 0;  // Within its stretch, from one on, without a hole.
    log_salts generation{};
    std::uint64_t from = 0;  // In the generation: where its frames begin
    std::uint64_t to = 0;    // and end.
    log_sum sum{};           // The running sum there.
    std::uint32_t page_size = 0;
    std::uint64_t commits = 0;  // Marks; the commit of another program counts with ours after it.
    wall_time first_at{};       // Of the marks, which are in the order of the log.
    wall_time last_at{};
    std::string before{};  // The sum of the segment before it; empty of the first.

    bool operator==(const segment_facts&) const = default;
};

/// A copy of the database's file, made while it was written. Its body: the file.
struct base_facts {
    std::string service{};
    std::uint64_t epoch = 0;
    std::uint64_t needs = 0;  // The segments from this one on are to be played over it, and
    std::uint64_t whole = 0;  // after this one it is a database, not before.
    std::uint64_t bytes = 0;
    wall_time begun_at{};
    wall_time whole_at{};  // Of the last commit in segment `whole`.

    bool operator==(const base_facts&) const = default;
};

[[nodiscard]] std::string encode_head(const segment_facts& of);
[[nodiscard]] std::string encode_head(const base_facts& of);
/// Empty if it is not the head of such a file, whole and in limits.
[[nodiscard]] std::optional<segment_facts> decode_segment_head(std::string_view head);
[[nodiscard]] std::optional<base_facts> decode_base_head(std::string_view head);

inline constexpr std::size_t mark_size = 16;
[[nodiscard]] std::vector<std::byte> encode_marks(std::span<const commit_mark> marks);
/// Empty if they are not marks of that segment, each further on than the one before.
[[nodiscard]] std::optional<std::vector<commit_mark>> decode_marks(bytes_view body,
                                                                   const segment_facts& of);
/// How long the body of a segment is.
[[nodiscard]] std::uint64_t body_size_of(const segment_facts& of);

/// `log-000000000012` and `base-000000000012`.
[[nodiscard]] std::string segment_name(std::uint64_t number);
[[nodiscard]] std::string base_name(std::uint64_t whole);
/// The number in such a name; empty if it is another one.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view name,
                                                     std::string_view before_number);

}  // namespace posthorn::standby
