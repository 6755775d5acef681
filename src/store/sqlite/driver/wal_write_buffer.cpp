#include "store/sqlite/driver/wal_write_buffer.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "base/assert.hpp"

namespace posthorn::sqlite {
namespace {

// Of the log's format, https://sqlite.org/fileformat2.html#the_write_ahead_log
constexpr int frame_header_size = 24;
constexpr std::ptrdiff_t pages_in_file_at = 4;  // In that header; not zero in the last frame alone.

// From here on no other frame is held back, of which the largest has 64 KiB: SQLite's own functions
// for Unix take no more than 17 bits of a write's size, since SQLite gives them no more than a
// page.
constexpr std::size_t held_enough = 60 * 1024;
constexpr int methods_version_max = 3;  // What we know of.

bool ends_transaction(std::span<const std::byte> frame_header) {
    return std::ranges::any_of(frame_header.subspan(pages_in_file_at, 4),
                               [](std::byte one) { return one != std::byte{}; });
}

std::span<const std::byte> bytes_of(const void* data, int size) {
    return {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

}  // namespace

/// Puts our functions in the place of the file's, for as long as it lives.
class wal_write_buffer::in_place {
public:
    in_place(wal_write_buffer& log, sqlite3_file* file) : log_(log), file_(file) {
        log_.stand_in_for(*file_->pMethods);
        log_.has_ended_ = false;
        log_.written_to_ = 0;
        file_->pMethods = &log_.ours_;
    }
    ~in_place() {
        if (file_->pMethods == &log_.ours_) file_->pMethods = log_.theirs_;  // Else it was closed.
        log_.held_.clear();  // Of a commit that failed: soon others may write there.
    }
    in_place(const in_place&) = delete;
    in_place& operator=(const in_place&) = delete;

private:
    wal_write_buffer& log_;
    sqlite3_file* file_;
};

void wal_write_buffer::stand_in_for(const sqlite3_io_methods& theirs) {
    if (theirs_ == &theirs) return;
    theirs_ = &theirs;
    static_cast<sqlite3_io_methods&>(ours_) = theirs;
    ours_.iVersion = std::min(ours_.iVersion, methods_version_max);
    ours_.owner = this;
    ours_.xWrite = write;
    ours_.xRead = read;
    ours_.xTruncate = truncate;
    ours_.xSync = sync;
    ours_.xFileSize = measure;
}

result<> wal_write_buffer::run(connection& database, statement& commit) {
    sqlite3_file* log = nullptr;
    sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                         static_cast<void*>(&log));
    std::optional<in_place> during;
    if (log != nullptr && log->pMethods != nullptr) during.emplace(*this, log);
    POSTHORN_TRY(commit.run());
    POSTHORN_ASSERT(held_.empty());
    return {};
}

wal_write_buffer& wal_write_buffer::of(sqlite3_file* file) {
    return *static_cast<const functions*>(file->pMethods)->owner;
}

sqlite3_int64 wal_write_buffer::end() const {
    return start_ + static_cast<sqlite3_int64>(held_.size());
}

int wal_write_buffer::hold(const void* data, int size) {
    try {
        const auto bytes = bytes_of(data, size);
        held_.insert(held_.end(), bytes.begin(), bytes.end());
        return SQLITE_OK;
    } catch (const std::bad_alloc&) {  // SQLite lets nothing through that is thrown.
        return SQLITE_IOERR_NOMEM;
    }
}

// Whatever becomes of it, it is not tried again: SQLite undoes a commit of which a write has
// failed, and if what it then reads brought the rest into the file, the commit would be there all
// the same.
int wal_write_buffer::write_held(sqlite3_file* file) {
    if (held_.empty()) return SQLITE_OK;
    const int code = theirs_->xWrite(file, held_.data(), static_cast<int>(held_.size()), start_);
    held_.clear();
    return code;
}

int wal_write_buffer::write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
    auto& log = of(file);
    log.written_to_ = std::max(log.written_to_, at + size);
    const bool is_header = size == frame_header_size;
    if (!log.held_.empty() && (at != log.end() || (is_header && log.held_.size() >= held_enough))) {
        if (const int code = log.write_held(file); code != SQLITE_OK) return code;
    }
    // What comes after the end are old headers with new checksums, or filling.
    if (log.has_ended_ || (log.held_.empty() && !is_header))
        return log.theirs_->xWrite(file, data, size, at);
    if (is_header) log.ends_ = ends_transaction(bytes_of(data, size));
    // A lone header that ends a transaction may have no page to follow.
    log.has_ended_ = log.ends_ && (!is_header || log.held_.empty());
    if (log.held_.empty()) {
        if (log.has_ended_) return log.theirs_->xWrite(file, data, size, at);
        log.start_ = at;
    }
    if (const int code = log.hold(data, size); code != SQLITE_OK) return code;
    return log.has_ended_ ? log.write_held(file) : SQLITE_OK;
}

int wal_write_buffer::read(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
    auto& log = of(file);
    const int code = log.write_held(file);
    return code == SQLITE_OK ? log.theirs_->xRead(file, into, size, at) : code;
}

int wal_write_buffer::truncate(sqlite3_file* file, sqlite3_int64 size) {
    auto& log = of(file);
    const int code = log.write_held(file);
    return code == SQLITE_OK ? log.theirs_->xTruncate(file, size) : code;
}

int wal_write_buffer::sync(sqlite3_file* file, int flags) {
    auto& log = of(file);
    if (const int code = log.write_held(file); code != SQLITE_OK) return code;
    // A log that begins anew syncs its header alone, before the first page.
    if (log.shipper_ == nullptr || !log.has_ended_) return log.theirs_->xSync(file, flags);
    log.shipper_->wrote(static_cast<std::uint64_t>(log.written_to_));
    const int code = log.theirs_->xSync(file, flags);
    if (code != SQLITE_OK) return code;
    return log.shipper_->wait() ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

int wal_write_buffer::measure(sqlite3_file* file, sqlite3_int64* size) {
    auto& log = of(file);
    const int code = log.write_held(file);
    return code == SQLITE_OK ? log.theirs_->xFileSize(file, size) : code;
}

}  // namespace posthorn::sqlite
