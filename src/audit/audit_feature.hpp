#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Who changed what on the admin listener, and who was refused.
[[nodiscard]] const feature& audit_feature() noexcept;

}  // namespace posthorn
