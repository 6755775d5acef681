#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace posthorn {

/// What differs between two states, at the deepest place that both have.
struct state_change {
    std::string path{};  // A JSON pointer; empty for the whole.
    /// Empty, which is not null, where there was nothing, or is nothing any more.
    std::optional<boost::json::value> before{};
    std::optional<boost::json::value> after{};
    bool operator==(const state_change&) const = default;
};

/// In the order of the later state, what is gone last. Lists are compared place by place. Pure.
[[nodiscard]] std::vector<state_change> find_changes(
    const std::optional<boost::json::value>& before,
    const std::optional<boost::json::value>& after);

}  // namespace posthorn
