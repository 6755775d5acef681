#pragma once

#include <string>

#include "base/time/clock.hpp"
#include "store/sql_query.hpp"

namespace posthorn::sqlite {

/// Asks a file whether it takes a statement, and changes nothing in it, not even its tables. Where
/// there is no such file yet, a database in memory with the store's tables answers.
[[nodiscard]] result<sql_query> probe(const std::string& path, const clock& time);

}  // namespace posthorn::sqlite
