#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// The centre of sites that store and forward: their notifications, and a mirror of their calls.
[[nodiscard]] const feature& centre_feature() noexcept;

}  // namespace posthorn
