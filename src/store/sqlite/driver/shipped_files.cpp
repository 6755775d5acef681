#include "store/sqlite/driver/shipped_files.hpp"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

namespace posthorn::sqlite {
namespace {

std::unexpected<error> cannot_read(const char* what) {
    return fail(error_code::io_failed, "{} cannot be read for the standby", what);
}

/// What is there of `into`; SQLite itself does not tell how much it could read.
std::span<std::byte> within(std::span<std::byte> into, std::uint64_t at, std::uint64_t size) {
    const auto there = size > at ? size - at : 0;
    return into.first(static_cast<std::size_t>(std::min<std::uint64_t>(there, into.size())));
}

}  // namespace

result<std::unique_ptr<shipped_files>> shipped_files::open(const open_options& options) {
    POSTHORN_LET(database, connection::open(options));
    // Reading once opens the log and its index.
    POSTHORN_TRY(database.integer("SELECT count(*) FROM sqlite_schema"));
    std::unique_ptr<shipped_files> made(new shipped_files(std::move(database)));
    sqlite3_vfs* system = nullptr;
    auto* const handle = made->database_.handle();
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER,
                         static_cast<void*>(&made->file_));
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, static_cast<void*>(&system));
    if (made->file_ == nullptr || made->file_->pMethods == nullptr || system == nullptr)
        return cannot_read("a database in memory");
    made->log_ = std::make_unique<log_file>(
        *system, sqlite3_filename_wal(sqlite3_db_filename(handle, "main")), 0);
    if (made->log_->opened() != SQLITE_OK) return cannot_read("the log of the database");
    return made;
}

result<std::size_t> shipped_files::read_log(std::span<std::byte> into, std::uint64_t at) {
    std::uint64_t size = 0;
    if (log_->measure(size) != SQLITE_OK) return cannot_read("the log of the database");
    into = within(into, at, size);
    if (!into.empty() && log_->read(into, at) != SQLITE_OK)
        return cannot_read("the log of the database");
    return into.size();
}

result<std::size_t> shipped_files::read_file(std::span<std::byte> into, std::uint64_t at) {
    POSTHORN_LET(size, file_size());
    into = within(into, at, size);
    const int code = into.empty()
                         ? SQLITE_OK
                         : file_->pMethods->xRead(file_, into.data(), static_cast<int>(into.size()),
                                                  static_cast<sqlite3_int64>(at));
    // It may have become shorter; what was read then is zeros, and the log has what it became.
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return cannot_read("the database");
    return into.size();
}

result<std::uint64_t> shipped_files::file_size() {
    sqlite3_int64 size = 0;
    if (file_->pMethods->xFileSize(file_, &size) != SQLITE_OK) return cannot_read("the database");
    return static_cast<std::uint64_t>(size);
}

}  // namespace posthorn::sqlite
