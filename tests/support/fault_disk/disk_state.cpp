// What the VFS asks of the disk; disk_control.cpp holds what the tests ask of it.
#include "support/fault_disk/disk_state.hpp"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

namespace posthorn::faults {
namespace {

constexpr std::int64_t epoch_ms = 1'700'000'000'000;  // Any fixed instant.

file_kind kind_of(int flags) {
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return file_kind::database;
    if ((flags & SQLITE_OPEN_WAL) != 0) return file_kind::wal;
    if ((flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0) {
        return file_kind::journal;
    }
    return file_kind::scratch;
}

}  // namespace

int disk_state::open(std::uint64_t user, const char* path, int flags,
                     std::unique_ptr<open_handle>& into) {
    const std::lock_guard guard(mutex_);
    if (!powered_ || (user != 0 && users_[user] != generation_)) return SQLITE_IOERR;
    auto handle = std::make_unique<open_handle>();
    handle->generation = generation_;
    handle->user = user;
    handle->read_only = (flags & SQLITE_OPEN_READONLY) != 0;
    handle->delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    if (path == nullptr) {
        handle->file = std::make_shared<disk_file>();
    } else {
        handle->path = path;
        handle->kind = kind_of(flags);
        handle->file = files_.find(handle->path);
        const bool exclusive = (flags & SQLITE_OPEN_EXCLUSIVE) != 0;
        if (handle->file && exclusive) return SQLITE_CANTOPEN;
        if (!handle->file && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
        if (!handle->file) handle->file = files_.create(handle->path);
    }
    handle->failures_told = handle->file->failed_syncs();
    open_.insert(handle.get());
    into = std::move(handle);
    return SQLITE_OK;
}

void disk_state::close(open_handle& handle) {
    unmap_shm(handle);
    const std::lock_guard guard(mutex_);
    open_.erase(&handle);
    if (!alive(handle)) return;
    handle.file->locks().unlock(handle.locks, SQLITE_LOCK_NONE);
    if (handle.delete_on_close && files_.find(handle.path) == handle.file) {
        files_.remove(handle.path);
    }
}

int disk_state::remove(std::uint64_t user, const std::string& path, bool sync_directory) {
    const std::lock_guard guard(mutex_);
    if (!powered_ || (user != 0 && users_[user] != generation_)) return SQLITE_IOERR_DELETE;
    if (!files_.find(path)) return SQLITE_IOERR_DELETE_NOENT;
    files_.remove(path);
    if (!spend_operation(user)) return SQLITE_IOERR_DELETE;
    if (sync_directory) {
        files_.sync(path);
        ++syncs_.directory;
    }
    return SQLITE_OK;
}

int disk_state::rename(std::uint64_t user, const std::string& from, const std::string& to) {
    const std::lock_guard guard(mutex_);
    if (!powered_ || (user != 0 && users_[user] != generation_)) return SQLITE_IOERR;
    if (!files_.find(from)) return SQLITE_IOERR;
    files_.rename(from, to);
    if (!spend_operation(user)) return SQLITE_IOERR;
    files_.sync(to);
    ++syncs_.directory;
    return SQLITE_OK;
}

// As SQLite's own VFS: an empty file does not count, so that nobody takes it for a hot journal.
int disk_state::access(const std::string& path, bool& found) {
    const std::lock_guard guard(mutex_);
    if (!powered_) return SQLITE_IOERR_ACCESS;
    const auto file = files_.find(path);
    found = file && file->size() > 0;
    return SQLITE_OK;
}

int disk_state::read(open_handle& handle, std::uint64_t offset, std::span<std::byte> into) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_READ;
    const auto had = handle.file->read(offset, into);
    return had < into.size() ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

// The write that the cut strikes is among those that may survive, whole or torn.
int disk_state::write(open_handle& handle, std::uint64_t offset, std::span<const std::byte> bytes) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_WRITE;
    if (handle.read_only) return SQLITE_READONLY;
    if (handle.kind != file_kind::scratch) {
        const auto end = offset + bytes.size();
        const auto growth = std::max(end, handle.file->size()) - handle.file->size();
        if (growth > 0 && files_.bytes_used() + growth > capacity_) return SQLITE_FULL;
    }
    handle.file->write(offset, bytes);
    if (handle.kind == file_kind::scratch || spend_operation(handle.user)) return SQLITE_OK;
    return SQLITE_IOERR_WRITE;
}

int disk_state::truncate(open_handle& handle, std::uint64_t size) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_TRUNCATE;
    if (handle.read_only) return SQLITE_READONLY;
    handle.file->truncate(size);
    if (handle.kind == file_kind::scratch || spend_operation(handle.user)) return SQLITE_OK;
    return SQLITE_IOERR_TRUNCATE;
}

int disk_state::sync(open_handle& handle) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_FSYNC;
    if (handle.kind == file_kind::scratch) return SQLITE_OK;
    if (!spend_operation(handle.user)) return SQLITE_IOERR_FSYNC;
    if (syncs_to_fail_ > 0) {
        --syncs_to_fail_;
        handle.file->abandon_pending();
    }
    // As on Linux, who had the file open when another's sync failed is told by the next of his own.
    const bool failed = std::exchange(handle.failures_told, handle.file->failed_syncs()) !=
                        handle.file->failed_syncs();
    handle.file->sync();
    if (failed) return SQLITE_IOERR_FSYNC;
    if (files_.is_new(handle.path, handle.file)) files_.sync(handle.path);
    count_sync(handle.kind);
    return SQLITE_OK;
}

int disk_state::size(open_handle& handle, std::uint64_t& into) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_FSTAT;
    into = handle.file->size();
    return SQLITE_OK;
}

int disk_state::lock(open_handle& handle, int level) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_LOCK;
    return handle.file->locks().lock(handle.locks, level);
}

int disk_state::unlock(open_handle& handle, int level) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_UNLOCK;
    handle.file->locks().unlock(handle.locks, level);
    return SQLITE_OK;
}

int disk_state::check_reserved(open_handle& handle, bool& reserved) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_CHECKRESERVEDLOCK;
    reserved = handle.file->locks().reserved();
    return SQLITE_OK;
}

bool disk_state::has_moved(open_handle& handle) {
    const std::lock_guard guard(mutex_);
    return !handle.path.empty() && files_.find(handle.path) != handle.file;
}

int disk_state::map_shm(open_handle& handle, std::size_t index, std::size_t size, bool make,
                        void volatile** into) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle)) return SQLITE_IOERR_SHMMAP;
    if (!handle.shm) {
        // What only the dead still map is made anew, as by the first one to open it.
        const bool in_use = std::ranges::any_of(open_, [&](const auto* other) {
            return other->file == handle.file && other->shm && alive(*other);
        });
        if (!in_use) handle.file->forget_shared_memory();
        handle.shm = handle.file->map_shared_memory();
    }
    *into = handle.shm->region(index, size, make);
    return SQLITE_OK;
}

int disk_state::lock_shm(open_handle& handle, int first, int count, int flags) {
    const std::lock_guard guard(mutex_);
    if (!alive(handle) || !handle.shm) return SQLITE_IOERR_SHMLOCK;
    return handle.shm->lock(handle.locks, first, count, flags);
}

// Holds for dead handles too: theirs is the memory of before the cut, which nobody else sees.
void disk_state::unmap_shm(open_handle& handle) {
    const std::lock_guard guard(mutex_);
    if (!handle.shm) return;
    handle.shm->unlock_all(handle.locks);
    handle.shm.reset();
}

void disk_state::randomness(std::span<std::byte> into) {
    const std::lock_guard guard(mutex_);
    for (auto& each : into) each = static_cast<std::byte>(random_.next());
}

void disk_state::sleep(int microseconds) {
    std::function<void(int)> hook;
    {
        const std::lock_guard guard(mutex_);
        slept_us_ += microseconds;
        hook = sleep_hook_;
    }
    if (hook) hook(microseconds);
}

std::int64_t disk_state::unix_ms() {
    std::function<std::int64_t()> clock;
    {
        const std::lock_guard guard(mutex_);
        if (!clock_) return epoch_ms + slept_us_ / 1000;
        clock = clock_;
    }
    return clock();
}

bool disk_state::alive(const open_handle& handle) const {
    return powered_ && handle.generation == generation_ && !handle.is_orphan;
}

bool disk_state::spend_operation(std::uint64_t user) {
    if (operations_left_ == 0) {
        cut();
        return false;
    }
    if (operations_to_live_ == 0) {
        kill(user);
        return false;
    }
    if (operations_left_ != fault_disk::unlimited) --operations_left_;
    if (operations_to_live_ != fault_disk::unlimited) --operations_to_live_;
    ++operations_;
    return true;
}

void disk_state::cut() {
    if (!powered_) return;
    powered_ = false;
    operations_left_ = fault_disk::unlimited;
    operations_to_live_ = fault_disk::unlimited;
    ++generation_;
    ++cuts_;
}

void disk_state::kill(std::uint64_t user) {
    operations_to_live_ = fault_disk::unlimited;
    ++kills_;
    for (auto* each : open_) {
        if (each->user != user || !alive(*each)) continue;
        each->file->locks().unlock(each->locks, SQLITE_LOCK_NONE);
        if (each->shm) each->shm->unlock_all(each->locks);
        each->is_orphan = true;
    }
    if (user != 0) users_[user] = generation_ - 1;
}

void disk_state::count_sync(file_kind kind) {
    switch (kind) {
        case file_kind::database: ++syncs_.database; break;
        case file_kind::wal: ++syncs_.wal; break;
        case file_kind::journal: ++syncs_.journal; break;
        case file_kind::scratch: break;
    }
}

}  // namespace posthorn::faults
