#pragma once

#include <chrono>
#include <cstdint>

#include "store/inbox_table.hpp"

namespace posthorn {

/// What to do with a message that arrives, by what the inbox knows of it.
struct dedupe_decision {
    enum class kind : std::uint8_t {
        run,          // It has taken no effect yet.
        duplicate,    // It has: answer what was answered then.
        conflict,     // Its id stands for another body.
        in_progress,  // A handler is at work on it.
    };

    kind what = kind::run;
    std::chrono::milliseconds retry_after{};  // If in progress.

    bool operator==(const dedupe_decision&) const = default;
};

/// Judges a message by the row of its id, if there is one. `lease` is the longest that a claim of
/// its handler can last: one that ends much later was made by a clock that has been set back since,
/// and counts as run out, or the message would wait for as long as the clock was wrong.
[[nodiscard]] dedupe_decision decide(const inbox_entry* known, const body_hash& hash, wall_time now,
                                     std::chrono::milliseconds lease);

}  // namespace posthorn
