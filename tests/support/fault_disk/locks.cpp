#include "support/fault_disk/locks.hpp"

#include <sqlite3.h>

#include "base/assert.hpp"

namespace posthorn::faults {

int file_locks::lock(held_locks& mine, int level) {
    if (mine.level >= level) return SQLITE_OK;
    switch (level) {
        case SQLITE_LOCK_SHARED:
            if (closed_to_readers_) return SQLITE_BUSY;
            ++sharers_;
            break;
        case SQLITE_LOCK_RESERVED:
            POSTHORN_ASSERT(mine.level == SQLITE_LOCK_SHARED);
            if (writer_ != nullptr) return SQLITE_BUSY;
            writer_ = &mine;
            break;
        default: return lock_exclusive(mine);
    }
    mine.level = level;
    return SQLITE_OK;
}

int file_locks::lock_exclusive(held_locks& mine) {
    POSTHORN_ASSERT(mine.level >= SQLITE_LOCK_SHARED);
    if (writer_ != nullptr && writer_ != &mine) return SQLITE_BUSY;
    writer_ = &mine;
    closed_to_readers_ = true;
    mine.level = sharers_ > 1 ? SQLITE_LOCK_PENDING : SQLITE_LOCK_EXCLUSIVE;
    return sharers_ > 1 ? SQLITE_BUSY : SQLITE_OK;
}

void file_locks::unlock(held_locks& mine, int level) {
    if (mine.level <= level) return;
    if (writer_ == &mine) {
        writer_ = nullptr;
        closed_to_readers_ = false;
    }
    if (level == SQLITE_LOCK_NONE) --sharers_;
    mine.level = level;
}

std::byte* shared_memory::region(std::size_t index, std::size_t size, bool make) {
    if (index >= regions_.size() && !make) return nullptr;
    while (regions_.size() <= index) regions_.push_back(std::make_unique<std::byte[]>(size));
    return regions_[index].get();
}

int shared_memory::lock(held_locks& mine, int first, int count, int flags) {
    const auto begin = static_cast<std::size_t>(first);
    const auto length = static_cast<std::size_t>(count);
    POSTHORN_ASSERT(begin + length <= slots_.size());
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        for (std::size_t i = begin; i < begin + length; ++i) unlock(mine, i);
        return SQLITE_OK;
    }
    if ((flags & SQLITE_SHM_SHARED) != 0) return lock_shared(mine, begin);
    return lock_exclusive(mine, begin, length);
}

void shared_memory::unlock_all(held_locks& mine) {
    for (std::size_t i = 0; i < slots_.size(); ++i) unlock(mine, i);
}

int shared_memory::lock_shared(held_locks& mine, std::size_t index) {
    const auto bit = 1U << index;
    if ((mine.shm_shared & bit) != 0) return SQLITE_OK;
    if (slots_[index].taken) return SQLITE_BUSY;
    ++slots_[index].sharers;
    mine.shm_shared |= bit;
    return SQLITE_OK;
}

// All of the slots or none, as one byte-range lock would be.
int shared_memory::lock_exclusive(held_locks& mine, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
        const auto bit = 1U << i;
        if ((mine.shm_exclusive & bit) != 0) continue;
        const int mine_shared = (mine.shm_shared & bit) != 0 ? 1 : 0;
        if (slots_[i].taken || slots_[i].sharers > mine_shared) return SQLITE_BUSY;
    }
    for (std::size_t i = first; i < first + count; ++i) {
        unlock(mine, i);  // A shared lock of ours becomes the exclusive one.
        slots_[i].taken = true;
        mine.shm_exclusive |= 1U << i;
    }
    return SQLITE_OK;
}

void shared_memory::unlock(held_locks& mine, std::size_t index) {
    const auto bit = 1U << index;
    if ((mine.shm_exclusive & bit) != 0) slots_[index].taken = false;
    if ((mine.shm_shared & bit) != 0) --slots_[index].sharers;
    mine.shm_exclusive &= ~bit;
    mine.shm_shared &= ~bit;
}

}  // namespace posthorn::faults
