#include "cost/spending.hpp"

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>

#include <sqlite3.h>

// The C library's own functions under their other names, so that ours can count.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* what, std::size_t size);
}

namespace {

std::atomic<std::int64_t> allocations = 0;

}  // namespace

extern "C" {
#pragma GCC visibility push(default)  // So that the libraries find them too.
void* malloc(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(count, size);
}
void* realloc(void* what, std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(what, size);
}
#pragma GCC visibility pop
}

namespace posthorn::cost {
namespace {

std::int64_t statements = 0;
std::int64_t syncs = 0;
std::int64_t writes = 0;
std::int64_t bytes_written = 0;

std::set<sqlite3*>& connections() {
    static std::set<sqlite3*> all;
    return all;
}

/// SQLite's own files with two functions counted. They have several tables of functions, in which
/// these two are the same.
struct watched {
    sqlite3_vfs ours{};
    sqlite3_vfs* theirs = nullptr;
    std::map<const sqlite3_io_methods*, sqlite3_io_methods> copies;
    decltype(sqlite3_io_methods::xWrite) write = nullptr;
    decltype(sqlite3_io_methods::xSync) sync = nullptr;
};
watched& all() {
    static watched one;
    return one;
}

int count_write(sqlite3_file* to, const void* data, int size, sqlite3_int64 at) {
    ++writes;
    bytes_written += size;
    return all().write(to, data, size, at);
}

int count_sync(sqlite3_file* file, int how) {
    ++syncs;
    return all().sync(file, how);
}

int open_watched(sqlite3_vfs* /*ours*/, const char* name, sqlite3_file* file, int flags,
                 int* given) {
    auto& state = all();
    const int code = state.theirs->xOpen(state.theirs, name, file, flags, given);
    if (file->pMethods == nullptr) return code;
    const auto* const real = file->pMethods;
    if (state.write == nullptr) {
        state.write = real->xWrite;
        state.sync = real->xSync;
    }
    if (real->xWrite != state.write || real->xSync != state.sync) return code;
    const auto [copy, is_new] = state.copies.try_emplace(real, *real);
    if (is_new) {
        copy->second.xWrite = count_write;
        copy->second.xSync = count_sync;
    }
    file->pMethods = &copy->second;
    return code;
}

int count_statement(unsigned what, void* /*nobody*/, void* which, void* detail) {
    if (what == SQLITE_TRACE_CLOSE) {
        connections().erase(static_cast<sqlite3*>(which));
        return 0;
    }
    const auto* text = static_cast<const char*>(detail);
    if (text[0] != '-' || text[1] != '-') ++statements;  // Otherwise a trigger's.
    return 0;
}

int note_connection(sqlite3* opened, const char** /*why*/, const sqlite3_api_routines* /*api*/) {
    connections().insert(opened);
    return sqlite3_trace_v2(opened, SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE, count_statement,
                            nullptr);
}

std::int64_t steps_so_far() {
    std::int64_t sum = 0;
    for (auto* one : connections())
        for (auto* each = sqlite3_next_stmt(one, nullptr); each != nullptr;
             each = sqlite3_next_stmt(one, each))
            sum += sqlite3_stmt_status(each, SQLITE_STMTSTATUS_VM_STEP, 0);
    return sum;
}

}  // namespace

spending spending::operator-(const spending& before) const {
    return {.allocations = allocations - before.allocations,
            .statements = statements - before.statements,
            .steps = steps - before.steps,
            .syncs = syncs - before.syncs,
            .writes = writes - before.writes,
            .bytes_written = bytes_written - before.bytes_written};
}

void watch_spending() {
    auto& state = all();
    state.theirs = sqlite3_vfs_find(nullptr);
    state.ours = *state.theirs;
    state.ours.zName = "posthorn-cost";
    state.ours.pNext = nullptr;
    state.ours.xOpen = open_watched;
    sqlite3_vfs_register(&state.ours, 1);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(note_connection));
}

spending spent() {
    return {.allocations = ::allocations.load(std::memory_order_relaxed),
            .statements = cost::statements,
            .steps = steps_so_far(),
            .syncs = cost::syncs,
            .writes = cost::writes,
            .bytes_written = cost::bytes_written};
}

}  // namespace posthorn::cost
