#pragma once

#include <span>
#include <string>

#include "base/time/clock.hpp"
#include "store/migration.hpp"
#include "store/probed_database.hpp"

namespace posthorn::sqlite {

/// Asks a file whose it is and whether it takes a statement, and changes nothing in it, not even its
/// tables. Where there is no such file yet, a database in memory with the store's tables answers.
/// `error_code::invalid_configuration` if it has tables of its own under names that Posthorn needs.
[[nodiscard]] result<probed_database> probe(const std::string& path,
                                            std::span<const table_set> above, const clock& time);

}  // namespace posthorn::sqlite
