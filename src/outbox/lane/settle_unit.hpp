#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "store/outbox_table.hpp"

namespace posthorn {

/// Told which outcomes are on disk, or need not be known any longer.
class settle_listener {
public:
    virtual ~settle_listener() = default;
    virtual void settled(std::span<const settlement> outcomes) = 0;
};

/// Outcomes of one commit. More may join until the writer begins with them: a thousand lanes that
/// send a message each cost the writer as little as one that sends a thousand.
///
/// Threads: `join` and `begin` from any; the others once it has begun.
class settle_unit {
public:
    settle_unit() = default;
    settle_unit(settle_listener& listener, std::vector<settlement> outcomes)
        : outcomes_(std::move(outcomes)) {
        for (const auto& each : outcomes_) listeners_.emplace_back(each.seq, &listener);
    }

    /// False where the writer has begun, or there would be more than `size_max`.
    [[nodiscard]] bool join(settle_listener& listener, std::vector<settlement>& some,
                            std::size_t size_max) {
        const std::scoped_lock lock(mutex_);
        if (begun_ || outcomes_.size() + some.size() > size_max) return false;
        for (const auto& each : some) listeners_.emplace_back(each.seq, &listener);
        std::ranges::move(some, std::back_inserter(outcomes_));
        return true;
    }

    /// All of them, by number (each has its own): rows that lie side by side are changed together.
    /// It may be asked twice, as a unit may run twice.
    std::span<const settlement> begin() {
        const std::scoped_lock lock(mutex_);
        if (!std::exchange(begun_, true)) {
            std::ranges::sort(outcomes_, {}, &settlement::seq);
            std::ranges::sort(listeners_, {}, &named::first);
        }
        return outcomes_;
    }

    [[nodiscard]] std::span<const settlement> outcomes() const noexcept { return outcomes_; }

    /// Those whose places `which` takes, as a unit of their own.
    template <class Predicate>
    [[nodiscard]] std::shared_ptr<settle_unit> those(const Predicate& which) const {
        auto some = std::make_shared<settle_unit>();
        for (std::size_t i = 0; i < outcomes_.size(); ++i) {
            if (!which(i)) continue;
            some->outcomes_.push_back(outcomes_[i]);
            some->listeners_.push_back(listeners_[i]);
        }
        return some;
    }

    void tell() const {
        for (std::size_t first = 0; first < outcomes_.size();) {
            auto last = first + 1;
            while (last < outcomes_.size() && listeners_[last].second == listeners_[first].second)
                ++last;
            listeners_[first].second->settled(outcomes().subspan(first, last - first));
            first = last;
        }
    }

private:
    using named = std::pair<std::int64_t, settle_listener*>;

    std::mutex mutex_;
    bool begun_ = false;
    std::vector<settlement> outcomes_;
    std::vector<named> listeners_;  // In the same order.
};

}  // namespace posthorn
