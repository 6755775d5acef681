#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Endpoints whose messages wait in a table, for workers that take them with SQL or over HTTP.
[[nodiscard]] const feature& queue_feature() noexcept;

}  // namespace posthorn
