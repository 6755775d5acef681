#pragma once

#include <string>

#include "feature/watched_nodes.hpp"

namespace posthorn {

/// Reads from the admin listeners of other nodes. It asks with GET and never for a payload, so it
/// changes nothing there, whatever its key may do.
///
/// Lifetime: outlives its calls, and what it is given outlives it.
/// Threads:  the network executor.
/// Cancel:   gives `error_code::cancelled`.
class node_asker {
public:
    explicit node_asker(const node_watch& watch, web_client web)
        : watch_(watch), web_(std::move(web)) {}

    /// Whether there is a network to ask over: not where a command looks at a file.
    [[nodiscard]] bool can_ask() const noexcept { return static_cast<bool>(web_); }
    /// `target` is a path with its query, such as `/_rf/health`. An answer that is longer than
    /// `bytes_max` or takes longer than is configured is `error_code::unreachable`.
    task<result<http_response>> get(const watched_node& node, std::string target,
                                    std::size_t bytes_max) const;

    [[nodiscard]] const node_watch& watch() const noexcept { return watch_; }
    /// Null if none has this name.
    [[nodiscard]] const watched_node* find(std::string_view name) const;

private:
    const node_watch& watch_;
    web_client web_;
};

}  // namespace posthorn
