#pragma once

#include <posthorn/node.hpp>

#include "app/config/config.hpp"

namespace posthorn {

/// What code asks of a node, as a configuration. Throws `posthorn::error`.
[[nodiscard]] config config_of(const node_options& options);

}  // namespace posthorn
