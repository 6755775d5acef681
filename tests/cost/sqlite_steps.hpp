#pragma once

#include <cstdint>

namespace posthorn::cost {

/// From now on every connection of this process that is opened counts its steps.
void watch_steps();
/// What SQLite's machine has done in statements that have ended, in all threads: work that neither a
/// clock nor a neighbour changes.
[[nodiscard]] std::int64_t steps_taken();

}  // namespace posthorn::cost
