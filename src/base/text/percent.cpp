#include "base/text/percent.hpp"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace posthorn {

std::optional<std::string> percent_decode(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at];
            continue;
        }
        unsigned char byte = 0;
        const auto digits = text.substr(at + 1, 2);
        const auto [stop, failure] = std::from_chars(digits.begin(), digits.end(), byte, 16);
        if (digits.size() != 2 || failure != std::errc{} || stop != digits.end())
            return std::nullopt;
        decoded += static_cast<char>(byte);
        at += 2;
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_' ||
                                           c == '.' || c == '~');
        encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return encoded;
}

}  // namespace posthorn
