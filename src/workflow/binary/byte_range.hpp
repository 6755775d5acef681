#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace posthorn {

/// Bytes that are looked into at places which they themselves name: no place is too far.
class byte_range {
public:
    byte_range() = default;
    explicit byte_range(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    [[nodiscard]] bool holds(std::uint64_t at, std::uint64_t size) const noexcept {
        return at <= bytes_.size() && size <= bytes_.size() - at;
    }
    /// Empty if it does not hold them.
    [[nodiscard]] std::optional<byte_range> part(std::uint64_t at, std::uint64_t size) const {
        if (!holds(at, size)) return {};
        return byte_range(
            bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    }
    /// The lowest byte first. Zero past the end, for those who have asked `holds`.
    template <class Number>
    [[nodiscard]] Number number(std::uint64_t at) const noexcept {
        static_assert(std::endian::native == std::endian::little);
        Number value{};
        if (holds(at, sizeof(Number))) std::memcpy(&value, bytes_.data() + at, sizeof(Number));
        return value;
    }
    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    /// Up to the zero that ends it; empty without one among so many bytes.
    [[nodiscard]] std::optional<std::string_view> text_at(std::uint64_t at,
                                                          std::size_t bytes_max) const {
        if (at >= bytes_.size()) return {};
        const auto rest = text().substr(static_cast<std::size_t>(at), bytes_max);
        const auto end = rest.find('\0');
        if (end == std::string_view::npos) return {};
        return rest.substr(0, end);
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

}  // namespace posthorn
