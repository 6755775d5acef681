#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace posthorn {

/// Tells whether stored bytes are still what they were: against disks, not against people.
///
/// Each step maps different states, and different words, to different states, so a change within
/// eight bytes that are added together always shows; any other does but for one case in 2^64.
/// What it gives for the same fields never changes: rows on disk hold it.
///
/// Threads: one.
class checksum {
public:
    /// One field; where it ends counts too.
    void add(std::string_view field) noexcept {
        add(static_cast<std::uint64_t>(field.size()));
        while (field.size() >= sizeof(std::uint64_t)) {
            add(word_of(field.substr(0, sizeof(std::uint64_t))));
            field.remove_prefix(sizeof(std::uint64_t));
        }
        if (!field.empty()) add(word_of(field));
    }
    void add(std::uint64_t word) noexcept {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        state_ = (state_ ^ word) * odd;
        state_ ^= state_ >> 32U;
    }
    void add(std::int64_t number) noexcept { add(static_cast<std::uint64_t>(number)); }
    [[nodiscard]] std::int64_t value() const noexcept { return static_cast<std::int64_t>(state_); }

private:
    /// Of eight bytes at most.
    static std::uint64_t word_of(std::string_view bytes) noexcept {
        static_assert(std::endian::native == std::endian::little);
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), bytes.size());
        return word;
    }

    std::uint64_t state_ = 0x243f6a8885a308d3;
};

}  // namespace posthorn
