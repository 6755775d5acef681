#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/histogram.hpp"

namespace posthorn {

/// What became of the messages for each endpoint that has a handler. Senders choose the names of
/// endpoints, so all without a handler are one: `other`.
///
/// Threads: any.
class endpoint_counts {
public:
    static constexpr std::size_t endpoints_max = 100;
    static constexpr std::string_view other = "other";

    struct counts {
        std::uint64_t processed = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t failed = 0;  // Or refused.
        duration_counts took{};    // From the arrival to the answer, of those processed.

        counts& operator+=(const counts& more) noexcept {
            processed += more.processed;
            duplicates += more.duplicates;
            failed += more.failed;
            for (std::size_t i = 0; i < took.size(); ++i) took[i] += more.took[i];
            return *this;
        }
    };
    using by_name = std::map<std::string, counts, std::less<>>;

    void add(std::string_view endpoint, const counts& more) {
        const std::lock_guard held(mutex_);
        const bool is_known = seen_.contains(endpoint);
        const auto name = is_known || seen_.size() < endpoints_max ? endpoint : other;
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
