#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// The example of docs/internals/adding-a-feature.md: notes that operators leave for each other.
[[nodiscard]] const feature& notes_feature() noexcept;

}  // namespace posthorn
