#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// That sweeps fail, one after the other.
struct sweep_trouble {
    std::string why;      // The last of them.
    steady_time since{};  // The first of them.
};

/// Where the sweeper says how its looks at all of the table end, for health.
///
/// Threads: any.
class sweep_board {
public:
    static constexpr std::chrono::minutes told_every{1};

    /// Whether to say it in the log too: not what was said there within the last minute.
    [[nodiscard]] bool failed(const error& why, steady_time now) {
        const std::scoped_lock lock(mutex_);
        const bool is_new = !now_ || now_->why != why.what();
        if (!now_) now_ = sweep_trouble{.why = {}, .since = now};
        now_->why = why.what();
        if (!is_new && now - told_at_ < told_every) return false;
        told_at_ = now;
        return true;
    }
    void went_well() {
        const std::scoped_lock lock(mutex_);
        now_.reset();
    }
    /// What a look could not take in, see `taken_in::odd`. Whether to say it in the log too: what
    /// is new.
    [[nodiscard]] bool took_in_all_but(const std::string& odd) {
        const std::scoped_lock lock(mutex_);
        return std::exchange(odd_, odd) != odd && !odd.empty();
    }
    [[nodiscard]] std::optional<sweep_trouble> now() const {
        const std::scoped_lock lock(mutex_);
        return now_;
    }
    [[nodiscard]] std::string odd() const {
        const std::scoped_lock lock(mutex_);
        return odd_;
    }

private:
    mutable std::mutex mutex_;
    std::optional<sweep_trouble> now_;
    std::string odd_;
    steady_time told_at_{};
};

}  // namespace posthorn
