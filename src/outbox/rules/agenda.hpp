#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <set>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// The times at which messages will fall due, as far as this node knows them.
///
/// It makes retries punctual; what it forgets or never knew, the poll finds. The table alone cannot
/// say when the next one is due, since messages in flight are pending and due there too.
/// Threads: the dispatcher's strand.
class agenda {
public:
    explicit agenda(std::size_t times_max) : times_max_(times_max) {}

    /// True if nothing known is due sooner.
    bool note(wall_time due) {
        times_.insert(due);
        if (times_.size() > times_max_) times_.erase(std::prev(times_.end()));
        return !times_.empty() && *times_.begin() == due;
    }
    void drop_until(wall_time now) { times_.erase(times_.begin(), times_.upper_bound(now)); }
    [[nodiscard]] std::optional<wall_time> next() const {
        if (times_.empty()) return std::nullopt;
        return *times_.begin();
    }

private:
    std::size_t times_max_;
    std::set<wall_time> times_;
};

}  // namespace posthorn
