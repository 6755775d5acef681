#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/row_defaults.hpp"

namespace posthorn::postgres {

/// Makes these the defaults of the columns of `outbox_messages`, where an INSERT pays nothing for
/// them. A table that has them already is left alone; of another one it takes the lock for a
/// moment, and fails if it is not given soon. Only the table's owner may.
result<> set_row_defaults(connection& database, const row_defaults& wanted);

}  // namespace posthorn::postgres
