#pragma once

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace posthorn {

/// Tells of a store's commits: those who listen, then the one that takes over what was enqueued.
///
/// Threads: any; one is told at a time. When `hand_to` or `forget` returns, the one before is told
///          nothing any more.
class commit_news {
public:
    void hand_to(commit_taker* taker) {
        const std::scoped_lock lock(mutex_);
        taker_ = taker;
    }
    void listen(commit_listener& listener) {
        const std::scoped_lock lock(mutex_);
        listeners_.push_back(&listener);
    }
    void forget(commit_listener& listener) {
        const std::scoped_lock lock(mutex_);
        std::erase(listeners_, &listener);
    }

    [[nodiscard]] std::int64_t claims_as() {
        const std::scoped_lock lock(mutex_);
        return taker_ == nullptr ? 0 : taker_->claims_as();
    }
    void committing(const outbox_row& lone) {
        const std::scoped_lock lock(mutex_);
        if (taker_ != nullptr) taker_->committing(lone);
    }
    void tell(std::vector<outbox_row> enqueued, std::vector<outbox_row> released,
              bool was_announced) {
        if (enqueued.empty() && released.empty() && !was_announced) return;
        const std::scoped_lock lock(mutex_);
        if (was_announced)
            for (auto* const each : listeners_) each->announced();
        if (enqueued.empty() && released.empty()) return;
        for (auto* const each : listeners_) each->committed(enqueued);
        if (taker_ == nullptr) return;
        if (!enqueued.empty()) taker_->committed(std::move(enqueued));
        if (!released.empty()) taker_->released(std::move(released));
    }
    void foreign_commit() {
        const std::scoped_lock lock(mutex_);
        for (auto* const each : listeners_) each->foreign_commit();
        if (taker_ != nullptr) taker_->foreign_commit();
    }
    /// The taker was the one who noticed it.
    void foreign_commit_taken() {
        const std::scoped_lock lock(mutex_);
        for (auto* const each : listeners_) each->foreign_commit();
    }

private:
    std::mutex mutex_;
    commit_taker* taker_ = nullptr;
    std::vector<commit_listener*> listeners_;
};

}  // namespace posthorn
