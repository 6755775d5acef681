#pragma once

#include <chrono>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/run/node_service.hpp"
#include "store/file_upkeep.hpp"

namespace posthorn {

/// Looks at the disk under a store every second, so that what is refused for want of room is taken
/// again once there is room; and at its files, which may have been deleted or replaced.
///
/// Lifetime: `run()` once; the rest outlives it.
/// Threads:  `run()` on one; the disk is looked at on `workers`.
/// Cancel:   `run()` returns.
class disk_watch final : public node_service {
public:
    disk_watch(file_upkeep& watched, executor& workers, timer& sleeper)
        : watched_(watched), workers_(workers), sleeper_(sleeper) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "disk watch"; }
    task<> run() override;

private:
    file_upkeep& watched_;
    executor& workers_;
    timer& sleeper_;
};

}  // namespace posthorn
