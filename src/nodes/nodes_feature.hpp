#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Other nodes in the desk of this one: their light with its history, and one search over all.
[[nodiscard]] const feature& nodes_feature() noexcept;

}  // namespace posthorn
