#pragma once

#include <optional>
#include <string_view>

namespace posthorn {

/// Empty is NULL in the table.
[[nodiscard]] inline std::optional<std::string_view> or_null(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace posthorn
