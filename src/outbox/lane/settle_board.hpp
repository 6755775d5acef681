#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/result.hpp"

namespace posthorn {

/// What became of recording outcomes.
struct settle_report {
    std::uint64_t failures = 0;  // Since the start.
    std::size_t unrecorded = 0;  // Messages whose outcome failed to be recorded, and has not since.
    std::string last_error{};    // Why; empty once all are recorded.

    bool operator==(const settle_report&) const = default;
};

/// Where the settler says what it could not record, for health and metrics.
///
/// Threads: any.
class settle_board {
public:
    void failed(const error& why, std::size_t unrecorded) {
        const std::scoped_lock lock(mutex_);
        ++seen_.failures;
        seen_.unrecorded = unrecorded;
        seen_.last_error = why.what();
    }
    /// So many are left.
    void recorded(std::size_t unrecorded) {
        const std::scoped_lock lock(mutex_);
        seen_.unrecorded = unrecorded;
        if (unrecorded == 0) seen_.last_error.clear();
    }
    [[nodiscard]] settle_report report() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    settle_report seen_;
};

}  // namespace posthorn
