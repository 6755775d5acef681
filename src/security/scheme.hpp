#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace posthorn {

/// How requests between this service and a peer are signed. All but v2 are weaker, for peers that
/// know nothing else; docs/reference/wire.md says what each leaves open.
enum class signature_scheme : std::uint8_t { v2, rf_hmac, x_workflow };

inline constexpr std::array<std::string_view, 3> scheme_names{"v2", "rf-hmac", "x-workflow"};

[[nodiscard]] constexpr std::string_view to_string(signature_scheme scheme) noexcept {
    return scheme_names[static_cast<std::size_t>(scheme)];
}
[[nodiscard]] constexpr std::optional<signature_scheme> parse_scheme(
    std::string_view name) noexcept {
    for (std::size_t i = 0; i < scheme_names.size(); ++i)
        if (scheme_names[i] == name) return static_cast<signature_scheme>(i);
    return std::nullopt;
}

}  // namespace posthorn
