#include "measure/sync_watch.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include <sqlite3.h>

namespace posthorn::measure {
namespace {

std::atomic<std::uint64_t> syncs = 0;

using sync_function = int (*)(sqlite3_file*, int);

/// SQLite's own files with one function in the middle: a file keeps its type, and its table of
/// functions is replaced by a copy in which only the sync differs. Others may put copies of that
/// copy in its place, so nothing is looked up by the table.
struct watched {
    sqlite3_vfs ours{};
    sqlite3_vfs* theirs = nullptr;
    std::function<void()> after;
    std::mutex lock;
    // By the table that it stands for; those of SQLite are constants, a few at most.
    std::map<const sqlite3_io_methods*, sqlite3_io_methods> copies;
    std::atomic<sync_function> real_sync = nullptr;  // One for all of them.
};

watched& all() {
    static watched one;
    return one;
}

int sync_and_tell(sqlite3_file* file, int flags) {
    const auto code = all().real_sync.load(std::memory_order_relaxed)(file, flags);
    syncs.fetch_add(1, std::memory_order_relaxed);
    if (all().after) all().after();
    return code;
}

int open_watched(sqlite3_vfs* /*ours*/, const char* name, sqlite3_file* file, int flags,
                 int* given) {
    const auto code = all().theirs->xOpen(all().theirs, name, file, flags, given);
    if (file->pMethods == nullptr) return code;
    const std::scoped_lock guard(all().lock);
    const auto* theirs = file->pMethods;
    sync_function known = nullptr;
    if (!all().real_sync.compare_exchange_strong(known, theirs->xSync) && known != theirs->xSync)
        return code;  // A file of another kind, which SQLite's own files never are.
    const auto [copy, is_new] = all().copies.try_emplace(theirs, *theirs);
    if (is_new) copy->second.xSync = sync_and_tell;
    file->pMethods = &copy->second;
    return code;
}

}  // namespace

void watch_syncs(std::function<void()> after) {
    auto& state = all();
    state.after = std::move(after);
    if (state.theirs != nullptr) return;
    state.theirs = sqlite3_vfs_find(nullptr);
    state.ours = *state.theirs;
    state.ours.zName = "posthorn-bench";
    state.ours.pNext = nullptr;
    state.ours.xOpen = open_watched;
    sqlite3_vfs_register(&state.ours, 1);
}

std::uint64_t syncs_so_far() noexcept { return syncs.load(std::memory_order_relaxed); }

}  // namespace posthorn::measure
