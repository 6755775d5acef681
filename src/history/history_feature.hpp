#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// What the node did over the last days, for charts.
[[nodiscard]] const feature& history_feature() noexcept;

}  // namespace posthorn
