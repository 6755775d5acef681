#include "base/text/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace posthorn {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t none = 64;

constexpr auto values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(none);
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    return table;
}();

/// The letters of one group as a number of 24 bits; empty if one is not in the alphabet.
std::optional<std::uint32_t> group_of(std::string_view letters) {
    std::uint32_t bits = 0;
    for (const char letter : letters) {
        const auto value = values[static_cast<unsigned char>(letter)];
        if (value == none) return std::nullopt;
        bits = bits << 6 | value;
    }
    return bits << 6 * (4 - letters.size());
}

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    while (!bytes.empty()) {
        const auto size = std::min<std::size_t>(bytes.size(), 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < size ? std::to_integer<std::uint32_t>(bytes[i]) : 0);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= size ? alphabet[bits >> (18 - 6 * i) & 63] : '=';
        bytes = bytes.subspan(size);
    }
    return text;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 4 * 3);
    while (!text.empty()) {
        auto letters = text.substr(0, 4);
        text.remove_prefix(4);
        if (text.empty() && letters.ends_with('='))
            letters.remove_suffix(letters.ends_with("==") ? 2 : 1);
        const auto bits = group_of(letters);
        if (!bits) return std::nullopt;
        const auto size = letters.size() - 1;
        if ((*bits & (0xffffffU >> 8 * size)) != 0) return std::nullopt;
        for (std::size_t i = 0; i < size; ++i)
            bytes.push_back(static_cast<std::byte>(*bits >> (16 - 8 * i)));
    }
    return bytes;
}

}  // namespace posthorn
