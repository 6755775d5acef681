// The methods of an open file, as SQLite calls them.
#include "support/fault_disk/io_methods.hpp"

#include <sqlite3.h>

#include "store/sqlite/driver/leftover_wal.hpp"

namespace posthorn::faults {
namespace {

struct vfs_file {
    sqlite3_file base;  // First, for SQLite knows the file by it.
    disk_state* disk;
    open_handle* handle;  // Owned, until xClose.
};

vfs_file& self(sqlite3_file* file) { return *reinterpret_cast<vfs_file*>(file); }
disk_state& disk_of(sqlite3_file* file) { return *self(file).disk; }
open_handle& handle_of(sqlite3_file* file) { return *self(file).handle; }

int close(sqlite3_file* file) {
    disk_of(file).close(handle_of(file));
    delete self(file).handle;
    self(file).handle = nullptr;
    return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
    const std::span bytes(static_cast<std::byte*>(into), static_cast<std::size_t>(count));
    return disk_of(file).read(handle_of(file), static_cast<std::uint64_t>(offset), bytes);
}

int write(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
    const std::span bytes(static_cast<const std::byte*>(from), static_cast<std::size_t>(count));
    return disk_of(file).write(handle_of(file), static_cast<std::uint64_t>(offset), bytes);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
    return disk_of(file).truncate(handle_of(file), static_cast<std::uint64_t>(size));
}

int sync(sqlite3_file* file, int) { return disk_of(file).sync(handle_of(file)); }

int size(sqlite3_file* file, sqlite3_int64* into) {
    std::uint64_t bytes = 0;
    const int outcome = disk_of(file).size(handle_of(file), bytes);
    *into = static_cast<sqlite3_int64>(bytes);
    return outcome;
}

int lock(sqlite3_file* file, int level) { return disk_of(file).lock(handle_of(file), level); }
int unlock(sqlite3_file* file, int level) { return disk_of(file).unlock(handle_of(file), level); }

int check_reserved_lock(sqlite3_file* file, int* into) {
    bool reserved = false;
    const int outcome = disk_of(file).check_reserved(handle_of(file), reserved);
    *into = reserved ? 1 : 0;
    return outcome;
}

int control(sqlite3_file* file, int operation, void* argument) {
    auto* const flag = static_cast<int*>(argument);  // Null for some operations, not for these.
    switch (operation) {
        case SQLITE_FCNTL_LOCKSTATE: *flag = handle_of(file).locks.level; return SQLITE_OK;
        case SQLITE_FCNTL_PERSIST_WAL:
            if (*flag >= 0) handle_of(file).persist_wal = *flag;
            *flag = handle_of(file).persist_wal;
            return SQLITE_OK;
        case SQLITE_FCNTL_POWERSAFE_OVERWRITE: *flag = 1; return SQLITE_OK;
        case SQLITE_FCNTL_HAS_MOVED:
            *flag = disk_of(file).has_moved(handle_of(file)) ? 1 : 0;
            return SQLITE_OK;
        case sqlite::rename_file_control: {
            const auto* const names = static_cast<const sqlite::file_names*>(argument);
            if (names == nullptr) return SQLITE_OK;
            return disk_of(file).rename(handle_of(file).user, names->from, names->to);
        }
        default: return SQLITE_NOTFOUND;
    }
}

// The unit in which the disk tears. SQLite asks for it only where it may not trust an overwrite.
int sector_size(sqlite3_file*) { return static_cast<int>(disk_file::sector_size); }

// A torn sector here never changes bytes that were not being written, which is what this one
// property means, and SQLite's Linux VFS claims it too: without it the WAL would be padded in tests
// and not in production. Order, atomicity and safe appends are not promised, nor kept.
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_shm(sqlite3_file* file, int index, int bytes, int make, void volatile** into) {
    return disk_of(file).map_shm(handle_of(file), static_cast<std::size_t>(index),
                                 static_cast<std::size_t>(bytes), make != 0, into);
}

int lock_shm(sqlite3_file* file, int first, int count, int flags) {
    return disk_of(file).lock_shm(handle_of(file), first, count, flags);
}

void barrier_shm(sqlite3_file* file) { disk_of(file).barrier(); }

int unmap_shm(sqlite3_file* file, int) {
    disk_of(file).unmap_shm(handle_of(file));
    return SQLITE_OK;
}

// Version 2: with shared memory, without memory-mapped reads.
const sqlite3_io_methods methods{
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shm,
    .xShmLock = lock_shm,
    .xShmBarrier = barrier_shm,
    .xShmUnmap = unmap_shm,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

}  // namespace

const int file_size = sizeof(vfs_file);

void attach(sqlite3_file& file, disk_state& disk, std::unique_ptr<open_handle> handle) {
    self(&file).disk = &disk;
    self(&file).handle = handle.release();
    file.pMethods = &methods;
}

}  // namespace posthorn::faults
