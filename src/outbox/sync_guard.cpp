#include "outbox/sync_guard.hpp"

#include <utility>

#include "store/async.hpp"

namespace posthorn {

result<bool> sync_guard::look() {
    // Held while the store is asked, so that nobody sees its answer taken and not yet noted.
    const std::scoped_lock lock(mutex_);
    auto changed = where_.changed_by_others();
    if (!changed || *changed) unsynced_ = true;
    return changed;
}

task<result<>> sync_guard::pass() {
    const auto looked = waiter::make();
    readers_.post([this, looked] {
        std::ignore = look();  // A failure counts as a change.
        looked->wake();
    });
    co_await looked->wait_regardless();
    {
        const std::scoped_lock lock(mutex_);
        if (!std::exchange(unsynced_, false)) co_return result<>{};
    }
    auto synced = co_await barrier(where_);
    if (!synced) distrust();
    co_return synced;
}

void sync_guard::distrust() {
    const std::scoped_lock lock(mutex_);
    unsynced_ = true;
}

}  // namespace posthorn
