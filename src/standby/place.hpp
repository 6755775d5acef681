#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "standby/wal_format.hpp"

namespace posthorn::standby {

/// Names one history of a database; a copy that goes on by itself keeps it and raises its epoch.
using stream_id = std::array<std::byte, 16>;

/// Up to where a standby has the log of its primary, on its own disk.
struct log_place {
    log_salts salts{};
    std::uint64_t offset = 0;
    log_sum sum{};

    bool operator==(const log_place&) const = default;
};

/// What a standby has.
enum class standby_phase : std::uint8_t {
    empty,      // Nothing yet.
    copying,    // A part of a copy, which is of no use until it is whole.
    following,  // A whole copy, and the log behind it.
    promoted,   // It is a primary itself now.
    handing,    // A primary that gave its role away, and does not know whether it was taken.
    rejoining,  // It was a primary, and its log is being cut where the two histories part.
};
inline constexpr auto last_standby_phase = standby_phase::rejoining;

[[nodiscard]] std::string_view to_string(standby_phase phase);

/// What a standby says of itself when a primary comes.
struct standby_place {
    stream_id stream{};
    std::uint64_t epoch = 0;
    standby_phase phase = standby_phase::empty;
    log_place at{};

    bool operator==(const standby_place&) const = default;
};

/// What the primary knows of its own log.
struct primary_place {
    stream_id stream{};
    std::uint64_t epoch = 0;
    log_salts salts{};    // Of the present generation,
    std::uint64_t end{};  // which ends here.
    /// The running sum of the present generation where the standby says it is; empty if no frame
    /// ends there.
    std::optional<log_sum> sum_there{};
    /// Where the generation before ended, all of which this very run has seen and shipped.
    std::optional<log_place> before{};
};

/// How the two go on.
enum class next_step : std::uint8_t {
    go_on,            // From where the standby is.
    next_generation,  // From the beginning of the present generation.
    copy,             // Pages of the file that differ, and the log from its beginning.
    refuse_stream,    // It is a copy of another database,
    refuse_epoch,     // or newer than we are: it, or another, is the primary now.
};

/// What follows from the two places. Pure.
///
/// | the standby is | then |
/// |---|---|
/// | promoted, handing its role over, or of a newer epoch | refuse_epoch |
/// | of another stream, and not empty | refuse_stream |
/// | empty, or had a part of a copy | copy |
/// | at an end in the present generation, with the same sum | go_on |
/// | at the end of the generation before, which this run has shipped | next_generation |
/// | anywhere else | copy |
[[nodiscard]] next_step judge(const standby_place& standby, const primary_place& primary);

}  // namespace posthorn::standby
