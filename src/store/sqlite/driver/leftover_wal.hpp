#pragma once

#include <cstdint>

#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// What became of the log (`-wal`) that an earlier process left.
enum class leftover_wal : std::uint8_t {
    none,    // There is nothing in it.
    saved,   // All of it is on the disk.
    in_use,  // Others have the database open, so that it stays as it is;
    kept,    // or there is no room for a copy, or no right to make one.
};

/// Saves the log that an earlier process left, before anything is copied from it into the database.
///
/// After a sync that failed, the disk may lack what can still be read, and no later sync brings it
/// there. If a part of that were copied and the power went, the database would hold newer pages
/// than its log explains. So the log becomes a new file, which is synced and takes its name.
///
/// The connection has read nothing yet. `error_code::io_failed` if the disk cannot sync; nothing
/// was changed then.
result<leftover_wal> save_left_log(connection& database);

/// How a test's disk is asked to rename a file and sync its folder; without names, whether it can.
inline constexpr int rename_file_control = 7'040;
struct file_names {
    const char* from = nullptr;
    const char* to = nullptr;
};

}  // namespace posthorn::sqlite
