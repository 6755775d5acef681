#include "sync_counter.hpp"

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<std::uint64_t> syncs = 0;

int counted(long call, int file) {
    syncs.fetch_add(1, std::memory_order_relaxed);
    return static_cast<int>(::syscall(call, file));
}

}  // namespace

// The program's own functions go before those of the C library, for SQLite's calls too.
extern "C" {
__attribute__((visibility("default"))) int fsync(int file) { return counted(SYS_fsync, file); }
__attribute__((visibility("default"))) int fdatasync(int file) {
    return counted(SYS_fdatasync, file);
}
}

namespace posthorn::bench {

std::uint64_t syncs_so_far() noexcept { return syncs.load(std::memory_order_relaxed); }

}  // namespace posthorn::bench
