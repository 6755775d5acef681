#pragma once

#include <algorithm>
#include <string_view>

namespace posthorn {

/// Whether a text has the part in it, where the case of ASCII letters does not count. Pure.
[[nodiscard]] inline bool contains_whatever_the_case(std::string_view text, std::string_view part) {
    const auto same = [](char a, char b) {
        const auto lower = [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        };
        return lower(a) == lower(b);
    };
    return part.empty() || !std::ranges::search(text, part, same).empty();
}

}  // namespace posthorn
