#include <bit>
#include <cstring>

#include <posthorn/uuid.hpp>

namespace posthorn {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::uint8_t not_hex = 0xff;

// A table, since ids are read for every message and branches on random digits are mispredicted.
constexpr auto digit_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(not_hex);
    for (std::uint8_t i = 0; i < 16; ++i) values[static_cast<unsigned char>(hex_digits[i])] = i;
    for (std::uint8_t i = 10; i < 16; ++i) values[static_cast<std::size_t>('A' + i - 10)] = i;
    return values;
}();

constexpr std::array<std::size_t, 4> hyphens{8, 13, 18, 23};

constexpr bool hyphen_follows(std::size_t byte) {
    return byte == 3 || byte == 5 || byte == 7 || byte == 9;
}

}  // namespace

std::optional<uuid> uuid::parse(std::string_view text) noexcept {
    const bool hyphenated = text.size() == 36;
    if (!hyphenated && text.size() != 32) return std::nullopt;
    if (hyphenated)
        for (const std::size_t at : hyphens)
            if (text[at] != '-') return std::nullopt;

    bytes_type bytes;
    std::uint8_t wrong = 0;  // Gathers the high bits, which only `not_hex` sets.
    const char* from = text.data();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::uint8_t high = digit_values[static_cast<unsigned char>(*from++)];
        const std::uint8_t low = digit_values[static_cast<unsigned char>(*from++)];
        wrong = static_cast<std::uint8_t>(wrong | high | low);
        bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
        if (hyphenated && hyphen_follows(i)) ++from;
    }
    if (wrong & 0xf0) return std::nullopt;
    return uuid(bytes);
}

void uuid::format_to(std::span<char, 36> out) const noexcept {
    char* to = out.data();
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
        *to++ = hex_digits[bytes_[i] >> 4];
        *to++ = hex_digits[bytes_[i] & 0xf];
        if (hyphen_follows(i)) *to++ = '-';
    }
}

std::string uuid::to_string() const {
    std::string text(36, '\0');
    format_to(std::span<char, 36>(text));
    return text;
}

std::optional<wall_time> uuid::time() const noexcept {
    if (version() != 7 || bytes_[8] >> 6 != 0b10) return std::nullopt;
    std::int64_t since_1970_ms = 0;
    for (std::size_t i = 0; i < 6; ++i) since_1970_ms = since_1970_ms << 8 | bytes_[i];
    return wall_time(std::chrono::milliseconds(since_1970_ms));
}

}  // namespace posthorn

std::size_t std::hash<posthorn::uuid>::operator()(const posthorn::uuid& id) const noexcept {
    // Ids of one burst differ in the middle and at the end alone, so both halves are spread over
    // all bits before and after they meet.
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(id.bytes());
    std::uint64_t mixed = (halves[0] ^ (halves[0] >> 32)) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ halves[1] ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}
