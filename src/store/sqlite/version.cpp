#include "store/sqlite/version.hpp"

#include <sqlite3.h>

namespace posthorn {

std::string_view sqlite_version() noexcept { return sqlite3_libversion(); }

}  // namespace posthorn
