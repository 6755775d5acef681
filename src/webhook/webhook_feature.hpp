#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Events that are published in a transaction, told to every subscriber's endpoint.
[[nodiscard]] const feature& webhook_feature() noexcept;

}  // namespace posthorn
