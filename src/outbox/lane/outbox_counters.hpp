#pragma once

#include <atomic>
#include <cstdint>

#include "base/histogram.hpp"
#include "outbox/lane/destination_counts.hpp"
#include "outbox/lane/lane_board.hpp"
#include "outbox/lane/reachability.hpp"
#include "outbox/lane/settle_board.hpp"
#include "outbox/rules/byte_budget.hpp"

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
    std::atomic<std::uint64_t> undeliverable = 0;  // An alarm: an operator must mend a route.
    std::atomic<std::uint64_t> spared = 0;         // Attempts that counted against no message.
    std::atomic<std::uint64_t> overflowed = 0;     // Rows that took the cold path instead.
    std::atomic<std::uint64_t> sweeps = 0;
    std::atomic<std::uint64_t> lanes = 0;  // Now, as of the last sweep.

    /// How long attempts took on the wire, one entry for each message.
    histogram send_us{duration_bounds_us};
    /// How many retries a message had needed when it was sent, buried or expired.
    histogram retries{retry_bounds};
    byte_budget memory{};  // What the lanes hold now.
    counts_of_destinations destinations{};
    reachability peers{};
    lane_board board{};
    settle_board settling{};

    // Batches of due messages that the cold path found, and the messages in each.
    std::atomic<std::uint64_t> batches = 0;
    histogram batch_rows{batch_bounds};
    /// From asking for due messages of a destination until they were handed over; of empty batches
    /// and of those that failed too.
    histogram batch_us{duration_bounds_us};
};

}  // namespace posthorn
