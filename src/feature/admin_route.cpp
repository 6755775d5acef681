#include "feature/admin_route.hpp"

#include <array>

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 3> role_names{"viewer", "worker", "operator"};
constexpr std::array<std::string_view, 5> way_names{"loopback", "key", "session", "proxy", "file"};

}  // namespace

std::string_view to_string(admin_role role) noexcept {
    return role_names[static_cast<std::size_t>(role)];
}

std::string_view to_string(admin_way way) noexcept {
    return way_names[static_cast<std::size_t>(way)];
}

std::optional<admin_role> parse_admin_role(std::string_view text) noexcept {
    for (std::size_t i = 0; i < role_names.size(); ++i)
        if (role_names[i] == text) return static_cast<admin_role>(i);
    return std::nullopt;
}

}  // namespace posthorn
