#include "outbox/dispatch/sync_guard.hpp"

#include <memory>

#include "base/planted.hpp"
#include "store/async.hpp"

namespace posthorn {

bool sync_guard::ask() {
    // Held over both, so that no thread finds the store's answer taken by another and not yet
    // noted. The writer's thread, for which the store may wait here, never takes it.
    const std::scoped_lock lock(asking_);
    const auto changed = where_.changed_by_others();
    if (changed && !*changed) return false;
    unsynced_ = true;  // Also when the store cannot say.
    return true;
}

task<bool> sync_guard::look() {
    const auto answered = waiter::make();
    const auto changed = std::make_shared<bool>(false);
    readers_.post([this, answered, changed] {
        *changed = ask();
        answered->wake();
    });
    co_await answered->wait_regardless();
    co_return *changed;
}

task<result<>> sync_guard::pass() {
    co_await look();
    if (POSTHORN_PLANTED(dispatch_before_the_sync)) co_return result<>{};
    if (!unsynced_.exchange(false)) co_return result<>{};
    auto synced = co_await barrier(where_);
    if (!synced) unsynced_ = true;
    co_return synced;
}

}  // namespace posthorn
