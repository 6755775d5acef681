#pragma once

#include <atomic>
#include <mutex>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Keeps rows that a power cut could still take back from being sent.
///
/// Other processes and handles commit as they like, perhaps without a sync; what they wrote is
/// visible before it is safe. So after rows were read, and before they are sent, one barrier syncs
/// everything if others committed since the last one.
///
/// The store tells of a foreign commit only once, to the first that asks or to its listener, so all
/// of that comes together here.
///
/// Lifetime: outlives the dispatcher's run and the commit watcher.
/// Threads:  any; `pass` on the dispatcher's strand, once at a time.
/// Cancel:   a barrier is not cancelled.
class sync_guard {
public:
    sync_guard(store& where, executor& readers) : where_(where), readers_(readers) {}

    /// Whether others committed since it was last asked.
    task<bool> look();
    /// After reading rows: when it succeeds, what was read is past a sync.
    task<result<>> pass();
    /// Others committed, or nothing is known, as at the start. Never blocks.
    void distrust() noexcept { unsynced_ = true; }

private:
    bool ask();

    store& where_;
    executor& readers_;
    std::mutex asking_;
    std::atomic<bool> unsynced_ = true;  // Others committed and no barrier began after that.
};

}  // namespace posthorn
