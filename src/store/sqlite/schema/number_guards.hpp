#pragma once

#include <span>

#include "store/migration.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// How the triggers end that `guard_numbers` makes.
inline constexpr const char* number_guard_suffix = "_number_on_INSERT";

/// Keeps rows from being given a number of which few follow, in each table of these folders that
/// numbers its rows by itself: the next one follows the highest, so that one of the last would be the
/// end of the table. Safe to repeat. A table that says so itself has none.
result<> guard_numbers(connection& database, std::span<const migration_set> sets);

}  // namespace posthorn::sqlite
