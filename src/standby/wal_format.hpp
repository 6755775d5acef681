#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace posthorn::standby {

// SQLite's log, as https://sqlite.org/fileformat2.html#the_write_ahead_log describes it. Pure.

using bytes_view = std::span<const std::byte>;

inline constexpr std::size_t log_header_size = 32;
inline constexpr std::size_t frame_header_size = 24;

/// A big-endian number of `bytes.size()` bytes, which are at most eight.
[[nodiscard]] std::uint64_t read_number(bytes_view bytes);
void write_number(std::span<std::byte> into, std::uint64_t number);

/// The running sum of a log: each frame's goes on from the one before it.
struct log_sum {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool operator==(const log_sum&) const = default;
};

using log_salts = std::array<std::byte, 8>;

/// How a log begins; from then on until it begins anew it is one generation.
struct log_header {
    std::array<std::byte, log_header_size> bytes{};
    std::uint32_t page_size = 0;
    log_salts salts{};
    bool sums_big_endian = false;  // As the machine was that began it.
    log_sum sum{};

    bool operator==(const log_header&) const = default;
};

/// Empty if it is none of a format that we know, or is damaged.
[[nodiscard]] std::optional<log_header> read_log_header(bytes_view bytes);

/// One page as it was at a commit, or on the way to one.
struct log_frame {
    std::uint32_t page = 0;           // From one on.
    std::uint32_t pages_in_file = 0;  // Not zero in the last of a transaction alone.
    bytes_view data;
};

/// Where in a log a transaction ends.
struct log_end {
    std::uint64_t offset = log_header_size;
    log_sum sum{};
    std::uint32_t pages_in_file = 0;  // Zero before the first.

    bool operator==(const log_end&) const = default;
};

/// Goes from frame to frame of one generation, each of which must follow from the one before it.
///
/// Threads: one at a time.
class log_walk {
public:
    explicit log_walk(const log_header& header);
    /// Goes on where a transaction ended.
    log_walk(const log_header& header, const log_end& from);

    [[nodiscard]] std::size_t frame_size() const { return frame_header_size + page_size_; }
    /// The frame that stands there, if it is the next one.
    std::optional<log_frame> step(bytes_view frame);
    /// Of the last whole transaction that was passed.
    [[nodiscard]] const log_end& end() const { return end_; }
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    /// Passes as many frames as there are. Where the first of them begins is `offset()`.
    void pass(bytes_view frames);

private:
    std::uint32_t page_size_;
    log_salts salts_;
    bool big_endian_;
    log_sum sum_;
    std::uint64_t offset_;
    log_end end_;
};

}  // namespace posthorn::standby
