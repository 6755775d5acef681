#pragma once

#include <span>

#include "store/rules/beside_walk.hpp"

namespace posthorn::sqlite {

/// What to look through for a fault, in tables of the newest step.
[[nodiscard]] std::span<const beside_sql> tables_beside(beside_fault which);

}  // namespace posthorn::sqlite
