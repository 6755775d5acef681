#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <posthorn/detail/time.hpp>

#include "store/store.hpp"

namespace posthorn::sqlite {

/// Which delivered messages to send again, to a receiver that has forgotten them.
struct replay_range {
    wall_time since{};          // Acknowledged then or later,
    wall_time until{};          // and before this.
    std::string destination{};  // All if empty.
};

struct replay_progress {
    std::int64_t replayed = 0;
    /// Past their horizon: the receiver could no longer tell a repeat, and refuses them. They stay
    /// as they are.
    std::int64_t expired = 0;
    bool is_done = false;

    // Where the next slice begins.
    std::int64_t after_sent_at = -1;
    std::int64_t after_seq = 0;
};

/// Makes delivered messages pending again under the ids they had, so that a receiver that does know
/// them has no second effect; those of one order key go in their order. Looks at no more than
/// `limit` rows, goes on from where the slice before ended, and gives where it ended itself.
result<replay_progress> replay_sent(store_transaction& tx, const replay_range& range, wall_time now,
                                    const replay_progress& before, std::size_t limit);

/// What that would come to, read alone.
result<replay_progress> count_sent(store_reader& from, const replay_range& range, wall_time now,
                                   const replay_progress& before, std::size_t limit);

}  // namespace posthorn::sqlite
