#include "measure/sync_watch.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include <sqlite3.h>

namespace posthorn::measure {
namespace {

std::atomic<std::uint64_t> syncs = 0;

/// SQLite's own files with one function in the middle: a file keeps its type, and its table of
/// functions is replaced by a copy in which only the sync differs.
struct watched {
    sqlite3_vfs ours{};
    sqlite3_vfs* theirs = nullptr;
    std::function<void()> after;
    std::mutex lock;
    // By the table that it stands for; those of SQLite are constants, a few at most.
    std::map<const sqlite3_io_methods*, sqlite3_io_methods> copies;
    std::map<const sqlite3_io_methods*, const sqlite3_io_methods*> originals;
};

watched& all() {
    static watched one;
    return one;
}

const sqlite3_io_methods* original_of(const sqlite3_file* file) {
    const std::scoped_lock guard(all().lock);
    return all().originals.at(file->pMethods);
}

int sync_and_tell(sqlite3_file* file, int flags) {
    const auto code = original_of(file)->xSync(file, flags);
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
    const auto [copy, is_new] = all().copies.try_emplace(theirs, *theirs);
    if (is_new) {
        copy->second.xSync = sync_and_tell;
        all().originals.emplace(&copy->second, theirs);
    }
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
