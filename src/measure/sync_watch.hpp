#pragma once

#include <cstdint>
#include <functional>

namespace posthorn::measure {

/// From now on, databases that this process opens count their syncs, and `after` is called on the
/// thread that synced, when the sync is done: what a commit wrote is on disk then. Once a process.
void watch_syncs(std::function<void()> after);

[[nodiscard]] std::uint64_t syncs_so_far() noexcept;

}  // namespace posthorn::measure
