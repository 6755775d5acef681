#include "store/sqlite/driver/memory_account.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

// Refused once SQLite is in use; then it goes on counting, which does no harm.
void count_no_memory() { static_cast<void>(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0)); }

}  // namespace posthorn::sqlite
