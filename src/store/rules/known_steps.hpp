#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "store/migration.hpp"

namespace posthorn {

/// `error_code::store_too_new` if a database's tables are past the steps that this Posthorn knows.
result<> require_known(const migration_set& set, std::int64_t step);

}  // namespace posthorn
