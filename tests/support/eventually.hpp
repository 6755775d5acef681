#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

namespace posthorn::test {

/// How long is waited for what is not announced: two minutes, since the machine may have other work.
/// Where it is expected not to come, POSTHORN_TEST_PATIENCE says fewer seconds.
[[nodiscard]] inline std::chrono::milliseconds patience() {
    const char* const asked = std::getenv("POSTHORN_TEST_PATIENCE");
    return asked == nullptr ? std::chrono::minutes(2) : std::chrono::seconds(std::atoi(asked));
}

/// Whether `condition` comes true before the deadline. For what nobody announces, such as a row
/// that another process writes: it is asked again every so often.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::milliseconds limit = patience(),
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
