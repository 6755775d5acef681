#pragma once

#include <cstddef>
#include <limits>

#include "base/async/task.hpp"
#include "base/run/environment.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn {

/// How far to look in one go. All of the outbox is read on the way, which is the most that a node
/// reads of it, so what is repeated every few minutes has a bound; the next goes on from there.
inline constexpr std::size_t mending_to_the_end = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t mending_slices_at_a_time = 50;

/// Makes the tables beside messages tell of them again, and says in the log if that was necessary.
/// See `old_rows::mend_beside`.
task<> mend_tables(const environment& env, purger& rows, std::size_t slices_max);

}  // namespace posthorn
