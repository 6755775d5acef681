#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// A second copy of the database on another machine, kept by its log.
[[nodiscard]] const feature& standby_feature() noexcept;

}  // namespace posthorn
