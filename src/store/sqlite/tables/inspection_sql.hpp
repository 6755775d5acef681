#pragma once

#include <memory>

#include "store/inspection.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// What people ask of a store, through a reading connection.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
[[nodiscard]] std::unique_ptr<store_inspector> inspection_on(connection& database);

}  // namespace posthorn::sqlite
