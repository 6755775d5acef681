#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "base/result.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// Why a store could not write lately. Past the last failure it stays for a while: where only some
/// things cannot be written, others can all the time.
///
/// Threads: any.
class write_trouble {
public:
    static constexpr std::chrono::seconds stays_for{5};

    /// How a unit ended. What is wrong with the unit alone does not count.
    void note(const result<>& outcome, steady_time at);
    /// The store could not even begin, whatever the code says.
    void note_failure(const error& why, steady_time at);
    [[nodiscard]] std::optional<error> now() const;

private:
    std::atomic<bool> is_there_ =
        false;  // So that units which end well, as nearly all, lock nothing.
    mutable std::mutex mutex_;
    std::optional<error> why_;
    steady_time failed_at_{};
};

}  // namespace posthorn
