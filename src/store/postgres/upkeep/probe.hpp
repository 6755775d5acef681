#pragma once

#include "base/time/clock.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/probed_database.hpp"

namespace posthorn::postgres {

/// Asks a server whose the schema is and whether it takes a statement, and changes nothing there.
[[nodiscard]] result<probed_database> probe(const connect_options& where, const clock& time);

}  // namespace posthorn::postgres
