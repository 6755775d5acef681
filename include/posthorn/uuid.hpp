#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// The id of a message: 16 bytes, ordered as its text is.
///
/// Posthorn makes version 7 ones, which sort by the time of their making; it takes any.
class uuid {
public:
    using bytes_type = std::array<std::uint8_t, 16>;

    /// The nil id, all zeros.
    constexpr uuid() noexcept = default;
    constexpr explicit uuid(const bytes_type& bytes) noexcept : bytes_(bytes) {}

    /// Reads `018f3b1c-…` in its 8-4-4-4-12 groups or as 32 digits without hyphens, in either case.
    /// Empty for everything else, braces and `urn:uuid:` included.
    [[nodiscard]] static std::optional<uuid> parse(std::string_view text) noexcept;

    /// Hyphenated, in lower case.
    [[nodiscard]] std::string to_string() const;
    void format_to(std::span<char, 36> out) const noexcept;

    [[nodiscard]] constexpr const bytes_type& bytes() const noexcept { return bytes_; }
    [[nodiscard]] constexpr bool is_nil() const noexcept { return *this == uuid(); }
    [[nodiscard]] constexpr int version() const noexcept { return bytes_[6] >> 4; }

    /// When it was made, as it says itself. Empty unless it is a version 7 one.
    [[nodiscard]] std::optional<wall_time> time() const noexcept;

    friend constexpr bool operator==(const uuid&, const uuid&) noexcept = default;
    friend constexpr std::strong_ordering operator<=>(const uuid&, const uuid&) noexcept = default;

private:
    bytes_type bytes_{};
};

}  // namespace posthorn

template <>
struct std::hash<posthorn::uuid> {
    [[nodiscard]] std::size_t operator()(const posthorn::uuid& id) const noexcept;
};
