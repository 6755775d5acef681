#pragma once

#include "feature/admin_route.hpp"
#include "history/history_keeper.hpp"

namespace posthorn {

/// What was asked for. Names are of one line; without them all is told.
struct history_query {
    history_range range = history_ranges.front();
    std::string destination{};
    std::string endpoint{};
    std::string node{};  // Of this one alone; otherwise of all together.
};

/// `range=6h&destination=billing`, with percent-encoding. Pure.
[[nodiscard]] result<history_query> parse_history_query(std::string_view query);

/// `GET /_rf/history`, for a viewer. The keeper runs where a node does; of a file there are rows
/// alone.
[[nodiscard]] admin_route history_route(const history_deps& with, const history_keeper& keeper);

}  // namespace posthorn
