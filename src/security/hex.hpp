#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace posthorn {

/// Two lower-case digits for each byte.
[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4];
        text += digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

}  // namespace posthorn
