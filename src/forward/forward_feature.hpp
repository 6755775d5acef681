#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Store-and-forward: work that a site holds until its target takes it.
[[nodiscard]] const feature& forward_feature() noexcept;

}  // namespace posthorn
