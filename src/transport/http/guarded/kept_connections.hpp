#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.hpp"

namespace posthorn {

/// Which idle connections are kept, for whom and for how long. What it gives back for closing, the
/// caller closes.
///
/// Threads: one at a time.
template <class Connection>
class kept_connections {
public:
    struct limits {
        std::size_t idle_max = 256;
        std::chrono::nanoseconds age_max = std::chrono::minutes(5);  // Since it was made.
        std::chrono::nanoseconds idle_time_max = std::chrono::minutes(1);
    };

    explicit kept_connections(limits bounds) : limits_(bounds) {}

    /// The one of that origin that was used last: the others may grow old and go.
    [[nodiscard]] std::optional<Connection> take(const std::string& origin, steady_time now) {
        for (auto at = idle_.rbegin(); at != idle_.rend(); ++at) {
            if (at->origin != origin || is_over(*at, now)) continue;
            auto taken = std::move(at->what);
            idle_.erase(std::next(at).base());
            return taken;
        }
        return std::nullopt;
    }

    /// Keeps it; gives those that have to go, this one itself where it is too old.
    [[nodiscard]] std::vector<Connection> put(std::string origin, Connection what, steady_time made,
                                              steady_time now) {
        idle_.push_back({std::move(origin), std::move(what), made, now});
        auto gone = take_old(now);
        while (idle_.size() > limits_.idle_max) gone.push_back(*take_oldest());
        return gone;
    }

    /// The one that has been idle for longest, to make room for another.
    [[nodiscard]] std::optional<Connection> take_oldest() {
        if (idle_.empty()) return std::nullopt;
        auto taken = std::move(idle_.front().what);
        idle_.pop_front();
        return taken;
    }

    /// Those whose time is over.
    [[nodiscard]] std::vector<Connection> take_old(steady_time now) {
        std::vector<Connection> gone;
        for (auto at = idle_.begin(); at != idle_.end();) {
            if (!is_over(*at, now)) {
                ++at;
                continue;
            }
            gone.push_back(std::move(at->what));
            at = idle_.erase(at);
        }
        return gone;
    }

    /// When the next one's time is over.
    [[nodiscard]] std::optional<steady_time> next_end() const {
        std::optional<steady_time> next;
        for (const auto& each : idle_)
            if (!next || end_of(each) < *next) next = end_of(each);
        return next;
    }

    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }

private:
    struct kept {
        std::string origin;
        Connection what;
        steady_time made;
        steady_time since;
    };

    [[nodiscard]] steady_time end_of(const kept& one) const {
        return std::min(one.made + limits_.age_max, one.since + limits_.idle_time_max);
    }
    [[nodiscard]] bool is_over(const kept& one, steady_time now) const {
        return now >= end_of(one);
    }

    limits limits_;
    std::list<kept> idle_;  // In the order in which they became idle.
};

}  // namespace posthorn
