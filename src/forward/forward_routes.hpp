#pragma once

#include <span>
#include <vector>

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "feature/command.hpp"
#include "feature/site_relay.hpp"
#include "forward/forward_keeper.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the routes of store-and-forward stand on.
struct forward_office {
    store& where;
    const environment& env;
    site_relay* relay = nullptr;             // Of a centre that runs.
    const forward_keeper* keeper = nullptr;  // Likewise: it knows how backlogs are worked off.
};

/// What is held, by category and one by one; retry and discard of what is parked; tracking by id.
[[nodiscard]] std::vector<admin_route> forward_routes(const forward_office& with);
/// `posthorn forward …`.
[[nodiscard]] std::span<const feature_command> forward_commands() noexcept;

}  // namespace posthorn
