#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.hpp"

namespace posthorn {

/// Which of the messages in hand are worked on next: the oldest first, and of an order key none
/// before the one ahead of it has ended. One that waits for its next try holds up those of its key
/// alone.
///
/// Pure: the caller says what time it is.
/// Threads: one at a time.
class consume_hand {
public:
    /// Tags grow.
    void add(std::uint64_t tag, std::string order_key);
    /// Those to work on now; they are at work until they end or wait.
    [[nodiscard]] std::vector<std::uint64_t> next(steady_time now, std::size_t most);
    void ended(std::uint64_t tag) { held_.erase(tag); }
    void waits(std::uint64_t tag, steady_time until);
    /// When one that waits, and that no other of its key is ahead of, is due; empty if none is.
    [[nodiscard]] std::optional<steady_time> due_at() const;
    [[nodiscard]] bool is_at_work(std::uint64_t tag) const;

    [[nodiscard]] std::size_t size() const noexcept { return held_.size(); }

private:
    struct one {
        std::string order_key;
        bool at_work = false;
        steady_time not_before{};
    };

    std::map<std::uint64_t, one> held_;
};

}  // namespace posthorn
