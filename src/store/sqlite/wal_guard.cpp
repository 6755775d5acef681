#include "store/sqlite/wal_guard.hpp"

#include <sqlite3.h>

#include "base/planted.hpp"

namespace posthorn::sqlite {
namespace {

constexpr int checkpoint_lock = 1;  // WAL_CKPT_LOCK: the second of SQLite's eight WAL locks.

}  // namespace

result<std::unique_ptr<wal_guard>> wal_guard::open(const open_options& options) {
    auto database = connection::open(options);
    if (!database) return std::unexpected(std::move(database).error());
    // Reading once maps the WAL's index, without which there is no lock to take.
    auto read = database->integer("SELECT count(*) FROM sqlite_schema");
    if (!read) return std::unexpected(std::move(read).error());
    POSTHORN_TRY(database->execute("PRAGMA wal_autocheckpoint = 0"));
    if (POSTHORN_PLANTED(checkpoint_without_sync))
        POSTHORN_TRY(database->execute("PRAGMA synchronous = OFF"));
    std::unique_ptr<wal_guard> guard(new wal_guard(*std::move(database)));
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

result<> wal_guard::checkpoint() {
    const std::scoped_lock lock_state(mutex_);
    if (!held_) return {};  // The node that has the lock checkpoints.
    unlock();
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main",
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    auto outcome = code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY
                       ? result<>{}
                       : result<>(std::unexpected(last_error(database_.handle())));
    // A foreign checkpoint that slipped in ends soon, and meets no writer while the caller has the
    // write lock. If it does not end, the lock is taken at the next opportunity. A disk that failed
    // is not waited for.
    constexpr int tries_max = 1000;
    held_ = lock();
    for (int tries = 1; outcome && !held_ && tries < tries_max; ++tries) {
        sqlite3_sleep(1);
        held_ = lock();
    }
    return outcome;
}

}  // namespace posthorn::sqlite
