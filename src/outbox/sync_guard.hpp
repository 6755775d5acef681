#pragma once

#include <mutex>

#include "base/executor.hpp"
#include "base/task.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Keeps rows that a power cut could still take back from being sent.
///
/// Other processes and handles commit as they like, perhaps without a sync; what they wrote is
/// visible before it is safe. So after rows were read, and before they are sent, one barrier syncs
/// everything if anybody else committed since the last one.
///
/// `changed_by_others` of the store answers only once, so everybody who wants to know asks here.
///
/// Lifetime: outlives the dispatcher's run and the commit watcher.
/// Threads:  `look` from any; `pass` and `distrust` on the dispatcher's strand.
/// Cancel:   a barrier is not cancelled.
class sync_guard {
public:
    sync_guard(store& where, executor& readers) : where_(where), readers_(readers) {}

    /// Whether somebody else committed since the last look, by whomever.
    result<bool> look();
    /// After reading rows: when it succeeds, what was read is past a sync.
    task<result<>> pass();
    /// Nothing is known about what is there, as at the start.
    void distrust();

private:
    store& where_;
    executor& readers_;
    std::mutex mutex_;
    bool unsynced_ = true;  // Somebody committed and no barrier began after that.
};

}  // namespace posthorn
