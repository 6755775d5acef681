#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

/// What goes between an engine and a runner: frames on two pipes. Pure.
///
///     "PhWf" | version, 2 bytes | kind, 2 bytes | bytes that follow, 4 | them
///
/// Numbers have their lowest byte first. The engine believes nothing that a runner writes: each frame
/// is bounded, and what is in it is checked against the batch it answers and against the manifest.
namespace posthorn {

inline constexpr std::uint16_t frame_version = 1;
inline constexpr std::size_t frame_head_bytes = 12;
inline constexpr std::size_t frame_body_max = 64UL << 20U;

enum class runner_frame : std::uint16_t {
    ready = 1,    // From the runner: the binary is loaded. Nothing follows.
    refused,      // From the runner, before it ends: why it could not begin.
    batch,        // To the runner.
    completions,  // From the runner: one for each activation, in the same order.
};

struct frame_head {
    runner_frame kind{};
    std::uint32_t body_bytes = 0;
    bool operator==(const frame_head&) const = default;
};

/// Appends the head, and room for nothing else.
void write_frame_head(std::string& to, const frame_head& head);
/// `malformed_request` for what is none, or has a body past the limit.
[[nodiscard]] result<frame_head> read_frame_head(std::string_view bytes,
                                                 std::size_t body_max = frame_body_max);

/// Writes fields one after the other.
class field_writer {
public:
    explicit field_writer(std::string& to) : to_(to) {}

    void flag(bool value) { byte(value ? 1 : 0); }
    void byte(std::uint8_t value) { to_ += static_cast<char>(value); }
    void number(std::uint32_t value);
    void number(std::uint64_t value);
    void number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
    /// Its length first.
    void text(std::string_view value);
    void bytes(std::span<const std::uint8_t> value);

private:
    std::string& to_;
};

/// Reads them. What is not there reads as zero or empty, and `is_sound` tells.
///
/// Lifetime: the texts it gives are of the bytes that it reads.
class field_reader {
public:
    explicit field_reader(std::string_view from) : rest_(from) {}

    [[nodiscard]] bool flag();
    [[nodiscard]] std::uint8_t byte();
    [[nodiscard]] std::uint32_t number_32();
    [[nodiscard]] std::uint64_t number_64();
    [[nodiscard]] std::int64_t signed_64() { return static_cast<std::int64_t>(number_64()); }
    [[nodiscard]] std::string_view text();
    void bytes(std::span<std::uint8_t> into);
    /// How many follow, of which each takes so many bytes at least: no more than there can be.
    [[nodiscard]] std::size_t count(std::size_t bytes_each);
    /// An enumerator from zero to `last`.
    template <class Enum>
    [[nodiscard]] Enum one_of(Enum last) {
        const auto value = byte();
        if (value > static_cast<std::uint8_t>(last)) is_sound_ = false;
        return is_sound_ ? static_cast<Enum>(value) : Enum{};
    }

    void refuse() noexcept { is_sound_ = false; }
    [[nodiscard]] bool is_sound() const noexcept { return is_sound_; }
    /// Sound, and nothing is left.
    [[nodiscard]] bool is_done() const noexcept { return is_sound_ && rest_.empty(); }

private:
    [[nodiscard]] std::string_view take(std::size_t bytes);

    std::string_view rest_;
    bool is_sound_ = true;
};

}  // namespace posthorn
