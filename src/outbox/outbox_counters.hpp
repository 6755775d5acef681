#pragma once

#include <atomic>
#include <cstdint>

namespace posthorn {

/// What the dispatcher did since it was built, for metrics.
///
/// Threads: any.
struct outbox_counters {
    std::atomic<std::uint64_t> sent = 0;
    std::atomic<std::uint64_t> retried = 0;
    std::atomic<std::uint64_t> throttled = 0;
    std::atomic<std::uint64_t> dead = 0;
    std::atomic<std::uint64_t> expired = 0;
    std::atomic<std::uint64_t> undeliverable = 0;  // An alarm: somebody must mend a route.
    std::atomic<std::uint64_t> overflowed = 0;     // Rows that took the cold path instead.
    std::atomic<std::uint64_t> sweeps = 0;
    std::atomic<std::uint64_t> lanes = 0;  // Now, as of the last sweep.
};

}  // namespace posthorn
