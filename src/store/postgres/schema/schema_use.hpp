#pragma once

#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

// Who uses a schema holds a lock of its session, which the server drops with the session, however
// that ends. What needs the schema for itself so knows whether it has it.

/// `error_code::store_busy` while a copy into the schema is under way.
result<> join_schema(connection& database);
/// For a session that has joined. `error_code::store_busy` if there are others.
result<> take_schema_alone(connection& database);

}  // namespace posthorn::postgres
