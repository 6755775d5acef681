#pragma once

#include <span>

#include "store/migration.hpp"
#include "store/schema_differences.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// Compares indexes, triggers and views by their text, and tables by the names of their columns,
/// with what the steps make that this database has taken. A name that the application has taken
/// for something else is left to it. Changes nothing.
result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets);

/// Makes again what was dropped, and anew what was changed, and says what that was.
/// `error_code::store_corrupt` if a table or a column is missing. The tables are up to date.
result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets);

}  // namespace posthorn::sqlite
