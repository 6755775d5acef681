#pragma once

#include <filesystem>

#include <posthorn/message.hpp>

#include "base/result.hpp"

struct sqlite3;

namespace posthorn::sqlite {

/// Stores a message through the caller's own handle, inside the caller's open transaction. Gives
/// its id, or that of the first one with its dedupe key, in which case nothing is stored.
///
/// Nothing stays on the handle: no hook, no pragma, no statement.
/// The handle's main database is `file`: in another one no node would look for it.
result<uuid> insert_on(sqlite3* handle, const std::filesystem::path& file, const message& body);

}  // namespace posthorn::sqlite
