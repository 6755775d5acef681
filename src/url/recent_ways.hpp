#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/time/clock.hpp"

namespace posthorn {

/// The ways that were used last, by what they lead to: at most so many, and none that has not been
/// asked for in a while. What is let go lives on for as long as its users hold it.
///
/// Threads: one at a time.
template <class Way>
class recent_ways {
public:
    struct limits {
        std::size_t count_max = 256;
        std::chrono::nanoseconds idle_max = std::chrono::minutes(10);
    };

    explicit recent_ways(limits bounds = {}) : limits_(bounds) {}

    /// Null if it is not known, or no longer.
    [[nodiscard]] std::shared_ptr<Way> find(std::string_view to, steady_time now) {
        drop_idle(now);
        const auto found = by_name_.find(to);
        if (found == by_name_.end()) return nullptr;
        found->second->used_at = now;
        used_.splice(used_.begin(), used_, found->second);
        return found->second->way;
    }

    /// One that is not known yet.
    void add(std::string to, std::shared_ptr<Way> way, steady_time now) {
        used_.push_front({std::move(to), std::move(way), now});
        by_name_.emplace(used_.front().to, used_.begin());
        while (used_.size() > limits_.count_max) drop_last();
    }

    [[nodiscard]] std::size_t size() const noexcept { return used_.size(); }

private:
    struct entry {
        std::string to;
        std::shared_ptr<Way> way;
        steady_time used_at;
    };
    using entries = std::list<entry>;

    void drop_idle(steady_time now) {
        while (!used_.empty() && now - used_.back().used_at >= limits_.idle_max) drop_last();
    }
    void drop_last() {
        by_name_.erase(used_.back().to);
        used_.pop_back();
    }

    limits limits_;
    entries used_;  // The last one first.
    std::map<std::string_view, typename entries::iterator, std::less<>> by_name_;  // Of entries.
};

}  // namespace posthorn
