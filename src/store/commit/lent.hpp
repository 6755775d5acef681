#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace posthorn {

/// A few things that are lent out one at a time.
///
/// Threads: any; who finds none free waits.
template <class Thing>
class lent {
public:
    std::unique_ptr<Thing> take() {
        std::unique_lock lock(mutex_);
        returned_.wait(lock, [this] { return !free_.empty(); });
        auto one = std::move(free_.back());
        free_.pop_back();
        return one;
    }
    /// A new one, or one that was taken; null stands for one that is still to be made.
    void give_back(std::unique_ptr<Thing> used) {
        {
            const std::scoped_lock lock(mutex_);
            free_.push_back(std::move(used));
        }
        returned_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Thing>> free_;
};

}  // namespace posthorn
