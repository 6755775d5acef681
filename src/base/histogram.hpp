#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace posthorn {

/// What a histogram held at one moment.
struct histogram_view {
    std::vector<std::uint64_t> bounds;  // The upper ones, in order; above them comes one more part.
    std::vector<std::uint64_t> counts;  // One more than bounds; not cumulative.
    std::uint64_t sum = 0;

    [[nodiscard]] std::uint64_t count() const {
        std::uint64_t all = 0;
        for (const auto one : counts) all += one;
        return all;
    }
};

/// How often which values occurred, in a few parts with fixed bounds. Cheap enough for the hot
/// path: two additions without a lock.
///
/// Threads: any. A view is not one moment to the last value, which no reader of metrics asks for.
class histogram {
public:
    static constexpr std::size_t bounds_max = 15;

    /// The bounds outlive it, as a constant does; at most `bounds_max`, rising.
    explicit constexpr histogram(std::span<const std::uint64_t> bounds)
        : bounds_(bounds.first(std::min(bounds.size(), bounds_max))) {}

    void record(std::uint64_t value, std::uint64_t times = 1) noexcept {
        const auto at = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
        counts_[static_cast<std::size_t>(at)].fetch_add(times, std::memory_order_relaxed);
        sum_.fetch_add(value * times, std::memory_order_relaxed);
    }

    [[nodiscard]] histogram_view view() const {
        histogram_view seen{.bounds = {bounds_.begin(), bounds_.end()}, .counts = {}};
        for (std::size_t i = 0; i <= bounds_.size(); ++i)
            seen.counts.push_back(counts_[i].load(std::memory_order_relaxed));
        seen.sum = sum_.load(std::memory_order_relaxed);
        return seen;
    }

private:
    std::span<const std::uint64_t> bounds_;
    std::array<std::atomic<std::uint64_t>, bounds_max + 1> counts_{};
    std::atomic<std::uint64_t> sum_ = 0;
};

/// Microseconds, from a tenth of a millisecond to half a minute.
inline constexpr std::array<std::uint64_t, 15> duration_bounds_us{
    100,    250,     500,     1'000,     2'500,     5'000,      10'000,    25'000,
    50'000, 100'000, 250'000, 1'000'000, 5'000'000, 10'000'000, 30'000'000};

/// How many took how long: one number for each part of `duration_bounds_us`, and one above.
using duration_counts = std::array<std::uint64_t, duration_bounds_us.size() + 1>;

/// Where in `duration_counts` it belongs.
[[nodiscard]] constexpr std::size_t duration_part(std::uint64_t took_us) {
    return static_cast<std::size_t>(std::ranges::lower_bound(duration_bounds_us, took_us) -
                                    duration_bounds_us.begin());
}

constexpr void add_durations(duration_counts& to, const duration_counts& more) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

/// Messages in a batch.
inline constexpr std::array<std::uint64_t, 9> batch_bounds{1, 2, 5, 10, 25, 50, 100, 500, 1'000};

inline constexpr std::array<std::uint64_t, 8> retry_bounds{0, 1, 2, 3, 5, 10, 20, 50};

}  // namespace posthorn
