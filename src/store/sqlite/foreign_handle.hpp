#pragma once

#include <posthorn/message.hpp>

#include "base/result.hpp"

struct sqlite3;

namespace posthorn::sqlite {

/// Stores a message through the caller's own handle, inside the caller's open transaction.
///
/// Nothing stays on the handle: no hook, no pragma, no statement.
result<> insert_on(sqlite3* handle, const message& body);

}  // namespace posthorn::sqlite
