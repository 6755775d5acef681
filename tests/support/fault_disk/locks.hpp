#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace posthorn::faults {

/// The locks that one open handle has on its file, in SQLite's terms.
struct held_locks {
    int level = 0;  // SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE.
    std::uint32_t shm_shared = 0;
    std::uint32_t shm_exclusive = 0;
};

/// SHARED, RESERVED, PENDING and EXCLUSIVE between the handles of one file.
class file_locks {
public:
    /// SQLITE_OK or SQLITE_BUSY. A refused EXCLUSIVE keeps PENDING, so that readers drain.
    int lock(held_locks& mine, int level);
    void unlock(held_locks& mine, int level);
    [[nodiscard]] bool reserved() const { return writer_ != nullptr; }

private:
    int lock_exclusive(held_locks& mine);

    int sharers_ = 0;
    const held_locks* writer_ = nullptr;  // Holds RESERVED or more.
    bool closed_to_readers_ = false;      // The writer holds PENDING or EXCLUSIVE.
};

/// What the connections to one WAL database share: the regions of the wal-index, and its locks.
///
/// Lives as long as somebody maps it, a dead handle too, for SQLite keeps pointers into it.
class shared_memory {
public:
    /// Null where the region does not exist and is not to be made.
    std::byte* region(std::size_t index, std::size_t size, bool make);

    /// SQLITE_OK or SQLITE_BUSY; `flags` as SQLite gives them to xShmLock.
    int lock(held_locks& mine, int first, int count, int flags);
    void unlock_all(held_locks& mine);

private:
    struct slot {
        int sharers = 0;
        bool taken = false;
    };

    int lock_shared(held_locks& mine, std::size_t index);
    int lock_exclusive(held_locks& mine, std::size_t first, std::size_t count);
    void unlock(held_locks& mine, std::size_t index);

    std::vector<std::unique_ptr<std::byte[]>> regions_;
    std::array<slot, 8> slots_{};
};

}  // namespace posthorn::faults
