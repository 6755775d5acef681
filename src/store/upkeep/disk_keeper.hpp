#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/log/log.hpp"
#include "store/disk_room.hpp"
#include "store/upkeep/disk_space.hpp"

namespace posthorn {

/// Watches the disk under a store: refuses what would fill it, and gives the ballast up when it is
/// full all the same, so that outcomes are recorded and old rows go.
///
/// Lifetime: the log outlives it.
/// Threads:  any.
class disk_keeper {
public:
    /// Without a disk that can be asked everything is allowed.
    disk_keeper(std::unique_ptr<disk_space> space, disk_limits limits, logger& log);

    /// Before a message is stored: `error_code::store_full` where that would take the last room.
    [[nodiscard]] result<> require_room();
    /// On the writer's thread, after each group: so many of its units were refused for want of
    /// room. If not all of them by us, the disk is full.
    void units_refused(std::uint64_t count);
    /// Looks at the disk and does what is to be done. Blocks.
    void look();
    [[nodiscard]] disk_report report() const;

private:
    void apply(const disk_facts& seen);
    void tell(disk_state before, disk_state now);

    std::unique_ptr<disk_space> space_;
    disk_limits limits_;
    logger& log_;
    std::atomic<disk_state> state_ = disk_state::enough;
    std::atomic<std::uint64_t> refused_ = 0;
    std::uint64_t refused_before_ = 0;  // Of before the present group; the writer's.

    mutable std::mutex mutex_;  // For the disk and the members below.
    disk_facts seen_;
    bool ballast_failed_ = false;  // Said once.
};

}  // namespace posthorn
