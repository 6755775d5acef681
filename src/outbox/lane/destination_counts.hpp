#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/histogram.hpp"

namespace posthorn {

/// What became of the messages for each destination, for metrics. Destinations are named by those
/// who send, so only so many are told apart; the rest counts as `other`.
///
/// Threads: any.
class destination_counts {
public:
    static constexpr std::size_t destinations_max = 100;
    static constexpr std::string_view other = "other";

    struct counts {
        std::uint64_t sent = 0;
        std::uint64_t retried = 0;
        std::uint64_t dead = 0;
        std::uint64_t expired = 0;
        duration_counts took{};  // On the wire, one for each message of an attempt.

        counts& operator+=(const counts& more) noexcept {
            sent += more.sent;
            retried += more.retried;
            dead += more.dead;
            expired += more.expired;
            for (std::size_t i = 0; i < took.size(); ++i) took[i] += more.took[i];
            return *this;
        }
    };
    using by_name = std::map<std::string, counts, std::less<>>;

    void add(std::string_view destination, const counts& more) {
        const std::lock_guard held(mutex_);
        const bool is_known = seen_.contains(destination);
        const auto name = is_known || seen_.size() < destinations_max ? destination : other;
        seen_[std::string(name)] += more;
    }
    [[nodiscard]] by_name view() const {
        const std::lock_guard held(mutex_);
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    by_name seen_;
};

}  // namespace posthorn
