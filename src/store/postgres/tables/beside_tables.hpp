#pragma once

#include <span>

#include "store/rules/beside_walk.hpp"

namespace posthorn::postgres {

/// What to look through for a fault.
[[nodiscard]] std::span<const beside_sql> tables_beside(beside_fault which);

}  // namespace posthorn::postgres
