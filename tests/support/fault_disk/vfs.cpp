// The glue between SQLite's C interface and disk_state: casts and nothing else.
#include "support/fault_disk/vfs.hpp"

#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "support/fault_disk/io_methods.hpp"

namespace posthorn::faults {
namespace {

constexpr int path_max = 512;
constexpr std::int64_t julian_of_unix_epoch_ms = 210'866'760'000'000;

vfs_registration& self(sqlite3_vfs* vfs) { return *static_cast<vfs_registration*>(vfs->pAppData); }
disk_state& disk_of(sqlite3_vfs* vfs) { return self(vfs).disk; }

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
    file->pMethods = nullptr;  // So that SQLite does not close what did not open.
    std::unique_ptr<open_handle> handle;
    const int outcome = disk_of(vfs).open(self(vfs).user, name, flags, handle);
    if (outcome != SQLITE_OK) return outcome;
    attach(*file, disk_of(vfs), std::move(handle));
    if (flags_out != nullptr) *flags_out = flags;
    return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* name, int sync_directory) {
    return disk_of(vfs).remove(self(vfs).user, name, sync_directory != 0);
}

int access(sqlite3_vfs* vfs, const char* name, int, int* found) {
    bool there = false;
    const int outcome = disk_of(vfs).access(name, there);
    *found = there ? 1 : 0;
    return outcome;
}

int full_pathname(sqlite3_vfs*, const char* name, int room, char* into) {
    const auto full = absolute(name);
    if (full.size() + 1 > static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
    std::memcpy(into, full.c_str(), full.size() + 1);
    return SQLITE_OK;
}

void* open_library(sqlite3_vfs*, const char*) { return nullptr; }
void library_error(sqlite3_vfs*, int room, char* into) {
    sqlite3_snprintf(room, into, "the fault disk loads no extensions");
}
void (*library_symbol(sqlite3_vfs*, void*, const char*))() { return nullptr; }
void close_library(sqlite3_vfs*, void*) {}

int randomness(sqlite3_vfs* vfs, int count, char* into) {
    disk_of(vfs).randomness(
        std::as_writable_bytes(std::span(into, static_cast<std::size_t>(count))));
    return count;
}

int sleep(sqlite3_vfs* vfs, int microseconds) {
    disk_of(vfs).sleep(microseconds);
    return microseconds;
}

int current_time_ms(sqlite3_vfs* vfs, sqlite3_int64* into) {
    *into = disk_of(vfs).unix_ms() + julian_of_unix_epoch_ms;
    return SQLITE_OK;
}

int current_time(sqlite3_vfs* vfs, double* into) {
    sqlite3_int64 now = 0;
    const int outcome = current_time_ms(vfs, &now);
    *into = static_cast<double>(now) / 86'400'000.0;
    return outcome;
}

int last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

std::string absolute(const std::string& path) { return path.starts_with('/') ? path : "/" + path; }

vfs_registration::vfs_registration(disk_state& on, std::uint64_t by) : disk(on), user(by) {
    static std::atomic<std::uint64_t> made = 0;
    name = fmt::format("fault-disk-{}", ++made);
    vfs.iVersion = 2;
    vfs.szOsFile = file_size;
    vfs.mxPathname = path_max;
    vfs.zName = name.c_str();
    vfs.pAppData = this;
    vfs.xOpen = open;
    vfs.xDelete = remove;
    vfs.xAccess = access;
    vfs.xFullPathname = full_pathname;
    vfs.xDlOpen = open_library;
    vfs.xDlError = library_error;
    vfs.xDlSym = library_symbol;
    vfs.xDlClose = close_library;
    vfs.xRandomness = randomness;
    vfs.xSleep = sleep;
    vfs.xCurrentTime = current_time;
    vfs.xGetLastError = last_error;
    vfs.xCurrentTimeInt64 = current_time_ms;
    POSTHORN_ASSERT(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

vfs_registration::~vfs_registration() { sqlite3_vfs_unregister(&vfs); }

}  // namespace posthorn::faults
