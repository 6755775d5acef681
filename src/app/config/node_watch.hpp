#pragma once

#include "app/config/config_problems.hpp"
#include "feature/watched_nodes.hpp"

namespace posthorn {

/// The nodes of `desk.nodes` with their keys, fetched from the environment or from files.
///
/// `error_code::secret_unavailable`, with the line of the configuration and without a word of any
/// key, if one is missing, cannot be a key, or lies in a file that others may read.
[[nodiscard]] result<node_watch> load_node_watch(const config& settings);
/// The same, and what cannot be fetched is added to `found`.
[[nodiscard]] node_watch load_node_watch(const config& settings, config_problems& found);

/// The same without keys, for what asks none of them.
[[nodiscard]] node_watch node_watch_of(const config& settings);

}  // namespace posthorn
