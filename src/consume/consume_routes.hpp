#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/run/environment.hpp"
#include "consume/consume_service.hpp"
#include "feature/admin_route.hpp"
#include "feature/command.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the routes of consuming work on.
struct consume_office {
    store& where;
    const environment& env;
    std::vector<consume_source> sources;          // As they are configured.
    std::vector<const consume_service*> running;  // None where no node runs.
    std::function<receiver*()> inbox{};
};

[[nodiscard]] std::vector<admin_route> consume_routes(const consume_office& with);
[[nodiscard]] std::span<const feature_command> consume_commands() noexcept;

}  // namespace posthorn
