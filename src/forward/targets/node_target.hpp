#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "feature/peer_calls.hpp"
#include "forward/forward_desk.hpp"

namespace posthorn {

inline constexpr std::string_view node_scheme = "node:";

/// An endpoint of another service, by the routes of this node.
struct node_target {
    std::string service;
    std::string endpoint;  // `{target}` alone stands for the target of the work.
};

/// Of `node:service/endpoint`; empty if it is not one. Pure.
[[nodiscard]] std::optional<node_target> read_node_target(std::string_view to);

/// Brings work to another node, whose inbox takes it exactly once: its id is the work's, for 30 days
/// from when the work was stored.
[[nodiscard]] forward_asker make_node_asker(node_target to, const peer_calls& peers);

}  // namespace posthorn
