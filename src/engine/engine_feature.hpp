#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Runs workflows, and lets people see them.
[[nodiscard]] const feature& engine_feature() noexcept;

}  // namespace posthorn
