#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/time/clock.hpp"

namespace posthorn {

/// Lets some log lines of a kind through each second, so that a stranger cannot fill the log.
///
/// Threads: any.
class log_rate_limit {
public:
    explicit log_rate_limit(std::uint32_t lines_per_second) : lines_per_second_(lines_per_second) {}

    /// How many lines were held back since the last that was let through; empty if this one is
    /// held back too.
    [[nodiscard]] std::optional<std::uint64_t> admit(steady_time now) {
        const std::lock_guard lock(mutex_);
        if (now - second_began_ >= std::chrono::seconds{1}) {
            second_began_ = now;
            lines_ = 0;
        }
        if (lines_ == lines_per_second_) {
            ++held_back_;
            return std::nullopt;
        }
        ++lines_;
        return std::exchange(held_back_, 0);
    }

private:
    const std::uint32_t lines_per_second_;
    std::mutex mutex_;
    steady_time second_began_{};
    std::uint32_t lines_ = 0;
    std::uint64_t held_back_ = 0;
};

}  // namespace posthorn
