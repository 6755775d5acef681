#pragma once

#include <span>

#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/schema_differences.hpp"

namespace posthorn::postgres {

/// Looks for tables, columns, indexes, triggers, views and functions that the steps make which this
/// schema has taken; whether functions have their text, triggers are on and indexes used. Changes
/// nothing.
result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets);

/// Makes again what was dropped, and anew what was changed or switched off, and says what that was.
/// `error_code::store_corrupt` if a table or a column is missing. The tables are up to date.
result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets);

}  // namespace posthorn::postgres
