#pragma once

#include <cstdint>

namespace posthorn::cost {

/// What this process has spent so far, in units that no clock and no neighbour changes.
struct spending {
    std::int64_t allocations = 0;  // Calls of malloc and its kin.
    std::int64_t statements = 0;   // SQL that was run, triggers not counted.
    std::int64_t steps = 0;        // Of SQLite's machine, triggers included.
    std::int64_t syncs = 0;
    std::int64_t writes = 0;
    std::int64_t bytes_written = 0;

    spending operator-(const spending& before) const;
};

/// From now on databases that are opened count. Once a process, before the first.
void watch_spending();
[[nodiscard]] spending spent();

}  // namespace posthorn::cost
