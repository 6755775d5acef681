#include "store/sqlite/driver/version.hpp"

#include <sqlite3.h>

namespace posthorn {

std::string_view sqlite_version() noexcept { return sqlite3_libversion(); }

int sqlite_version_number() noexcept { return sqlite3_libversion_number(); }

}  // namespace posthorn
