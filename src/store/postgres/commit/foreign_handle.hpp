#pragma once

#include <string>

#include <posthorn/message.hpp>

#include "base/result.hpp"

struct pg_conn;

namespace posthorn::postgres {

/// Where a message of the caller's belongs.
struct foreign_target {
    std::string schema;
    std::string service;  // Whose schema it must be.
};

/// Stores a message through the caller's own connection, inside the caller's open transaction.
/// Gives its id, or that of the first one with its dedupe key, in which case nothing is stored.
///
/// Nothing stays on the connection: no setting, no prepared statement. A statement that fails
/// spoils the caller's transaction, as any other would; an id that is there already does not.
result<uuid> insert_on(pg_conn* handle, const foreign_target& where, const message& body);

}  // namespace posthorn::postgres
