#pragma once

#include <span>
#include <vector>

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "feature/command.hpp"
#include "store/store.hpp"

namespace posthorn {

struct centre_office {
    store& where;
    const environment& env;
};

/// The sites, their calls and their notifications, as this centre knows them.
[[nodiscard]] std::vector<admin_route> centre_routes(const centre_office& with);
/// `posthorn centre …`.
[[nodiscard]] std::span<const feature_command> centre_commands() noexcept;

}  // namespace posthorn
