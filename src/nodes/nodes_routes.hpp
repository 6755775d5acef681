#pragma once

#include <string_view>
#include <vector>

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "nodes/node_asker.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the routes need; all of it outlives them.
struct nodes_deps {
    const environment& env;
    store& where;
    const node_asker& asker;
};

/// The nodes with their light. It is there without any too, so that a program can ask.
[[nodiscard]] admin_route nodes_route(const nodes_deps& with);
/// The history of one, a search over all, one message of another, and what all know of one: where
/// there are any.
[[nodiscard]] std::vector<admin_route> node_routes(const nodes_deps& with);

/// Where there is no network, as over a file.
[[nodiscard]] error nothing_to_ask_with();

/// How many nodes have each light: green, yellow, red, unknown.
struct light_counts {
    int green = 0;
    int yellow = 0;
    int red = 0;
    int unknown = 0;
};
/// Reads the database.
[[nodiscard]] result<light_counts> count_lights(const nodes_deps& with);

}  // namespace posthorn
