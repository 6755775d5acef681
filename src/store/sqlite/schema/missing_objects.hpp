#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/migration.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// Makes indexes, triggers and views again that the steps have made once and that were dropped
/// since, and gives their names. A name that the application has taken for something else is left
/// to it. The tables are up to date.
result<std::vector<std::string>> make_missing(connection& database,
                                              std::span<const migration_set> sets);

}  // namespace posthorn::sqlite
