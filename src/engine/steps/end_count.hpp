#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace posthorn {

/// How many workflows have ended or were quarantined, for those who wait for one.
///
/// Threads: any.
class end_count {
public:
    void note() {
        {
            const std::scoped_lock lock(mutex_);
            ++ends_;
        }
        changed_.notify_all();
    }
    [[nodiscard]] std::uint64_t value() const {
        const std::scoped_lock lock(mutex_);
        return ends_;
    }
    /// Blocks until there are more than `seen`, for as long as that at most.
    void await(std::uint64_t seen, std::chrono::milliseconds at_most) const {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, at_most, [&] { return ends_ > seen; });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::uint64_t ends_ = 0;
};

}  // namespace posthorn
