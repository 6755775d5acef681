#include "store/slices.hpp"

#include <algorithm>

namespace posthorn {

std::size_t next_slice_rows(const slice_seen& seen, const slice_options& options) {
    // Nothing is learned from a slice that found no rows, or from a clock that stood still.
    if (seen.rows_done == 0) return std::clamp<std::size_t>(seen.rows_asked, 1, options.rows_max);
    const std::size_t doubled = seen.rows_asked * 2;
    if (seen.held.count() <= 0) return std::clamp<std::size_t>(doubled, 1, options.rows_max);
    const auto fitting = static_cast<double>(seen.rows_done) *
                         static_cast<double>(options.time_target.count()) /
                         static_cast<double>(seen.held.count());
    const auto wanted =
        static_cast<std::size_t>(std::min(fitting, static_cast<double>(options.rows_max)));
    return std::clamp<std::size_t>(std::min(wanted, doubled), 1, options.rows_max);
}

std::chrono::nanoseconds rest_after(std::chrono::nanoseconds held, const slice_options& options) {
    // Even a slice that took no time lets others in: the queue of the writer is not for us alone.
    constexpr std::chrono::nanoseconds rest_min = std::chrono::milliseconds{1};
    constexpr std::chrono::nanoseconds rest_max = std::chrono::seconds{1};
    return std::clamp(held * options.rest_factor, rest_min, rest_max);
}

}  // namespace posthorn
