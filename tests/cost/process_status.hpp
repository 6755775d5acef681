#pragma once

#include <chrono>
#include <cstdint>

namespace posthorn::cost {

/// What this process has used so far, as Linux counts it.
struct process_status {
    std::int64_t memory_peak_kib = 0;
    std::int64_t wakeups = 0;  // Times that a thread went to sleep by itself, over all threads.
    std::chrono::microseconds cpu_time{};
};

[[nodiscard]] process_status read_process_status();

}  // namespace posthorn::cost
