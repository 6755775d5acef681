#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace posthorn::postgres {

/// Whoever listens to the commits of a store, told by one of its sessions at a time.
///
/// Threads: any. When `listen` returns, the one before is told nothing any more.
class commit_listeners {
public:
    void listen(commit_listener* listener) {
        const std::scoped_lock lock(mutex_);
        listener_ = listener;
    }
    [[nodiscard]] std::int64_t claims_as() {
        const std::scoped_lock lock(mutex_);
        return listener_ == nullptr ? 0 : listener_->claims_as();
    }
    void tell(std::vector<outbox_row> enqueued, std::vector<outbox_row> released) {
        if (enqueued.empty() && released.empty()) return;
        const std::scoped_lock lock(mutex_);
        if (listener_ == nullptr) return;
        if (!enqueued.empty()) listener_->committed(std::move(enqueued));
        if (!released.empty()) listener_->released(std::move(released));
    }

private:
    std::mutex mutex_;
    commit_listener* listener_ = nullptr;
};

}  // namespace posthorn::postgres
