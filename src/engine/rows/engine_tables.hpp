#pragma once

#include "store/migration.hpp"

namespace posthorn {

/// What is kept of workflows, on both databases.
[[nodiscard]] table_set engine_tables() noexcept;

}  // namespace posthorn
