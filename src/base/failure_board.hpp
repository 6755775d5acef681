#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/error.hpp>

namespace posthorn {

/// Something that fails, and has not succeeded since.
struct standing_failure {
    std::string name;    // Such as an endpoint.
    std::string with{};  // Whose call failed last.
    std::string why{};   // The last failure's.
    std::optional<error_code> code{};
    wall_time since{};
    wall_time last{};
    std::uint64_t times = 0;
};

/// What fails, by name, until it succeeds again; for health.
///
/// Of more than `names_max` names those that failed last are kept.
///
/// Threads: any. While nothing fails, a success is one load.
class failure_board {
public:
    static constexpr std::size_t names_max = 100;

    void failed(standing_failure one, wall_time now) {
        const std::lock_guard held(mutex_);
        auto found = std::ranges::find(known_, one.name, &standing_failure::name);
        if (found == known_.end()) {
            if (known_.size() == names_max)
                known_.erase(std::ranges::min_element(known_, {}, &standing_failure::last));
            one.since = now;
            known_.push_back(std::move(one));
            found = std::prev(known_.end());
        } else {
            found->with = std::move(one.with);
            found->why = std::move(one.why);
            found->code = one.code;
        }
        found->last = now;
        ++found->times;
        any_.store(true, std::memory_order_release);
    }

    void succeeded(std::string_view name) {
        if (!any_.load(std::memory_order_acquire)) return;
        const std::lock_guard held(mutex_);
        std::erase_if(known_, [name](const standing_failure& each) { return each.name == name; });
        any_.store(!known_.empty(), std::memory_order_release);
    }

    /// Those that failed at `since` or later, in the order in which they began.
    [[nodiscard]] std::vector<standing_failure> list(wall_time since) const {
        const std::lock_guard held(mutex_);
        std::vector<standing_failure> recent;
        std::ranges::copy_if(known_, std::back_inserter(recent),
                             [since](const standing_failure& each) { return each.last >= since; });
        return recent;
    }

private:
    mutable std::mutex mutex_;
    std::atomic<bool> any_ = false;
    std::vector<standing_failure> known_;
};

}  // namespace posthorn
