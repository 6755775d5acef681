#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/async/waiter.hpp"

namespace posthorn {

/// The asynchronous calls that may be told to give up, because the node ends.
///
/// Lifetime: outlives the places that it gives.
/// Threads:  any.
class calls_at_work {
public:
    /// One call's, for as long as it is at work; woken when it shall end.
    class place {
    public:
        explicit place(calls_at_work& among) : among_(among), told_(among.enter()) {}
        ~place() { among_.leave(told_); }
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        [[nodiscard]] waiter& told() const noexcept { return *told_; }

    private:
        calls_at_work& among_;
        std::shared_ptr<waiter> told_;
    };

    /// Those that come later are told at once.
    void cut_off() {
        std::set<std::shared_ptr<waiter>> all;
        {
            const std::scoped_lock lock(mutex_);
            given_up_ = true;
            all = waiting_;
        }
        for (const auto& one : all) one->wake();
    }

private:
    std::shared_ptr<waiter> enter() {
        auto added = waiter::make();
        const std::scoped_lock lock(mutex_);
        if (given_up_) added->wake();
        waiting_.insert(added);
        return added;
    }
    void leave(const std::shared_ptr<waiter>& one) {
        const std::scoped_lock lock(mutex_);
        waiting_.erase(one);
    }

    std::mutex mutex_;
    std::set<std::shared_ptr<waiter>> waiting_;
    bool given_up_ = false;
};

}  // namespace posthorn
