#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// Where to look in the table.
struct sweep_scope {
    bool everywhere = false;
    std::set<std::string, std::less<>> destinations{};  // Unless it is everywhere.

    [[nodiscard]] bool empty() const { return !everywhere && destinations.empty(); }
};

/// When messages will fall due, and whose, as far as this node knows.
///
/// It makes retries punctual; what it forgets or never knew, the poll finds. The table alone cannot
/// say when the next one is due, since messages in flight are pending and due there too.
/// Threads: the dispatcher's strand.
class agenda {
public:
    explicit agenda(std::size_t times_max) : times_max_(times_max) {}

    /// True if nothing known is due sooner.
    bool note(wall_time due, std::string_view destination) {
        times_.emplace(due, destination);
        if (times_.size() > times_max_) times_.erase(std::prev(times_.end()));
        return !times_.empty() && times_.begin()->first == due;
    }
    /// The same where only the time is known.
    void note_somewhere(wall_time due) { note(due, {}); }

    /// Adds where something is due.
    void take_until(wall_time now, sweep_scope& into) {
        while (!times_.empty() && times_.begin()->first <= now) {
            auto due = times_.extract(times_.begin());
            if (due.value().second.empty())
                into.everywhere = true;
            else
                into.destinations.insert(std::move(due.value().second));
        }
    }
    [[nodiscard]] std::optional<wall_time> next() const {
        if (times_.empty()) return std::nullopt;
        return times_.begin()->first;
    }

private:
    std::size_t times_max_;
    std::set<std::pair<wall_time, std::string>> times_;
};

}  // namespace posthorn
