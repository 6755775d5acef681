#pragma once

#include <posthorn/node_options.hpp>

#include "app/config/config.hpp"

namespace posthorn {

/// What code asks of a node, as a configuration, over what a file said, if there was one. Throws
/// `posthorn::error`.
[[nodiscard]] config config_of(const node_options& options, const config* beneath = nullptr);

/// The application's own function, which no configuration can hold; empty if it has none.
[[nodiscard]] custom_backoff custom_backoff_of(const node_options& options);

}  // namespace posthorn
