#pragma once

#include <memory>

#include <sqlite3.h>

#include "support/fault_disk/disk_state.hpp"

namespace posthorn::faults {

/// What SQLite has to allocate for an open file.
extern const int file_size;

/// Makes `file` an open file of `disk`; SQLite's xClose releases the handle.
void attach(sqlite3_file& file, disk_state& disk, std::unique_ptr<open_handle> handle);

}  // namespace posthorn::faults
