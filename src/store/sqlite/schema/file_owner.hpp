#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/migration.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// Whether a database file is empty though a log or a ballast beside it tells that it was in use:
/// `error_code::store_corrupt`. SQLite would take it for a new one, and delete the log.
result<> require_not_emptied(const std::string& path);

/// Whether a file has a table of a name that Posthorn, or a folder above that has made no tables
/// there yet, needs: `error_code::invalid_configuration`, before anything in it is changed.
result<> require_free_names(connection& database, std::span<const table_set> above);

/// Writes down whose file it is, the first time; from then on another service is refused with
/// `error_code::invalid_configuration`. The migrations have run. Without a name, as a person's
/// tool may come, the file stays whose it is.
///
/// Receivers know a message by its source and its id: under another name, what they have seen
/// before would take effect a second time.
result<> claim_for(connection& database, std::string_view service);

}  // namespace posthorn::sqlite
