#pragma once

#include <algorithm>
#include <string_view>

namespace posthorn {

/// Whether a text can be a method or a header's name.
[[nodiscard]] inline bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return c > ' ' && c < '\x7f' &&
               std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
    });
}

/// Whether a text can be a header's value: a line end would let it speak for the lines after it.
[[nodiscard]] inline bool is_field_value(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace posthorn
