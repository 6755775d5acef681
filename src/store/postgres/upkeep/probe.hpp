#pragma once

#include "base/time/clock.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/sql_query.hpp"

namespace posthorn::postgres {

/// Asks a server whether it takes a statement, and changes nothing there.
[[nodiscard]] result<sql_query> probe(const connect_options& where, const clock& time);

}  // namespace posthorn::postgres
