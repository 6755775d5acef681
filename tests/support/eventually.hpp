#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace posthorn::test {

/// Whether `condition` comes true before the deadline. For what nobody announces, such as a row
/// that another process writes: it is asked again every so often.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::milliseconds limit = std::chrono::minutes(2),
                              std::chrono::milliseconds every = std::chrono::milliseconds(1)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= deadline) return condition();
        never.wait_for(lock, every);
    }
    return true;
}

}  // namespace posthorn::test
