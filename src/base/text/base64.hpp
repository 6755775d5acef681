#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posthorn {

/// Base64 with `+`, `/` and padding, as RFC 4648 section 4 has it.
[[nodiscard]] std::string encode_base64(std::span<const std::byte> bytes);
[[nodiscard]] inline std::string encode_base64(std::string_view text) {
    return encode_base64(std::as_bytes(std::span(text)));
}

/// Strict, so that every list of bytes has one text: empty for missing padding, spaces, other
/// alphabets and bits left over that are not zero.
[[nodiscard]] std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

}  // namespace posthorn
