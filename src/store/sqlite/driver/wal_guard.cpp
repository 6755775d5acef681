#include "store/sqlite/driver/wal_guard.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sqlite3.h>

#include "base/planted.hpp"

namespace posthorn::sqlite {
namespace {

// Of the index's format, https://sqlite.org/walformat.html#the_wal_index_header; in the machine's
// own byte order.
constexpr int index_part_size = 32'768;
constexpr std::size_t page_size_at = 14;
constexpr std::size_t last_frame_at = 16;
constexpr std::uint64_t bytes_before_frames = 32;
constexpr std::uint64_t bytes_before_page = 24;

constexpr int checkpoint_lock = 1;  // WAL_CKPT_LOCK: the second of SQLite's eight WAL locks.

/// While it lives, a checkpoint of this connection takes the lock that the guard holds for its own,
/// and does not give it back: no other program gets in before or after.
class kept_lock {
public:
    explicit kept_lock(sqlite3_file* file)
        : file_(file), real_(file->pMethods), kept_(*real_), before_(std::exchange(now, this)) {
        kept_.xShmLock = [](sqlite3_file* of, int first, int count, int flags) -> int {
            if (first == checkpoint_lock && count == 1) return SQLITE_OK;
            return now->real_->xShmLock(of, first, count, flags);
        };
        kept_.iVersion = std::min(kept_.iVersion, 3);  // What this header knows of it.
        file_->pMethods = &kept_;
    }
    ~kept_lock() {
        file_->pMethods = real_;
        now = before_;
    }
    kept_lock(const kept_lock&) = delete;
    kept_lock& operator=(const kept_lock&) = delete;

private:
    inline static thread_local const kept_lock* now = nullptr;

    sqlite3_file* file_;
    const sqlite3_io_methods* real_;
    sqlite3_io_methods kept_;
    const kept_lock* before_;
};

}  // namespace

result<std::unique_ptr<wal_guard>> wal_guard::open(const open_options& options) {
    POSTHORN_LET(database, connection::open(options));
    // Reading once maps the WAL's index, without which there is no lock to take.
    POSTHORN_TRY(database.integer("SELECT count(*) FROM sqlite_schema"));
    POSTHORN_TRY(database.execute("PRAGMA wal_autocheckpoint = 0"));
    if (POSTHORN_PLANTED(checkpoint_without_sync))
        POSTHORN_TRY(database.execute("PRAGMA synchronous = OFF"));
    std::unique_ptr<wal_guard> guard(new wal_guard(std::move(database)));
    sqlite3_file_control(guard->database_.handle(), "main", SQLITE_FCNTL_FILE_POINTER,
                         static_cast<void*>(&guard->file_));
    if (guard->file_ == nullptr || guard->file_->pMethods == nullptr ||
        guard->file_->pMethods->iVersion < 2)
        return fail(error_code::store_unavailable,
                    "this file system gives SQLite no shared memory; use a local one");
    return guard;
}

wal_guard::~wal_guard() { release(); }

bool wal_guard::lock() {
    if (POSTHORN_PLANTED(wal_guard_off)) return true;
    return file_->pMethods->xShmLock(file_, checkpoint_lock, 1,
                                     SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK;
}

void wal_guard::unlock() {
    file_->pMethods->xShmLock(file_, checkpoint_lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

bool wal_guard::hold() {
    const std::scoped_lock lock_state(mutex_);
    if (!held_) held_ = lock();
    return held_;
}

bool wal_guard::holds() const {
    const std::scoped_lock lock_state(mutex_);
    return held_;
}

void wal_guard::release() {
    const std::scoped_lock lock_state(mutex_);
    if (held_) unlock();
    held_ = false;
}

std::uint64_t wal_guard::log_end() const {
    void volatile* index = nullptr;
    if (file_->pMethods->xShmMap(file_, 0, index_part_size, 0, &index) != SQLITE_OK ||
        index == nullptr)
        return 0;
    std::uint16_t page_size = 0;
    std::uint32_t last_frame = 0;
    const auto* const header = static_cast<const char*>(const_cast<const void*>(index));
    std::memcpy(&page_size, header + page_size_at, sizeof page_size);
    std::memcpy(&last_frame, header + last_frame_at, sizeof last_frame);
    if (last_frame == 0) return 0;
    constexpr std::uint64_t page_size_max = 65'536;  // Is written as one.
    const auto size = page_size == 1 ? page_size_max : page_size;
    return bytes_before_frames + (last_frame * (bytes_before_page + size));
}

result<> wal_guard::checkpoint() {
    const std::scoped_lock lock_state(mutex_);
    if (!held_) return {};  // The node that has the lock checkpoints.
    const kept_lock kept(file_);
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main",
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return {};
    return std::unexpected(last_error(database_.handle()));
}

}  // namespace posthorn::sqlite
