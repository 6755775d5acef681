#pragma once

#include <chrono>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// How long the inbox remembers a message, and until when it takes one in.
///
/// A repeat is recognised by the row that the first one left. Rows live until an hour after the
/// message's expiry, and a message that arrives after its expiry is taken for lost rather than for
/// new; so between the two there is always an hour in which neither clocks that differ a little nor
/// a slow purge can turn a repeat into a second effect.
struct horizon_options {
    std::chrono::milliseconds grace = std::chrono::hours{1};
    std::chrono::milliseconds row_life_min = std::chrono::hours{48};
    std::chrono::milliseconds retention{};  // Can only lengthen the rest.
};

/// The expiry of a message whose sender gives none: a peer that knows only the documents' wire. It
/// is never past its horizon; such a sender has to stop repeating within `row_life_min`.
inline constexpr wall_time no_expiry{};

/// The most that a message can ask for: whatever it says, it expires so long after it was made, by
/// its sender's clock. Every repeat says the same, so one is refused also after the row is gone.
inline constexpr std::chrono::milliseconds message_life_max = std::chrono::days{400};

/// When a message expires, as the inbox takes it.
[[nodiscard]] wall_time heeded_expiry(wall_time created_at, wall_time expires_at);

/// Until when the row of a message lives that is taken in at `now`: never longer than
/// `row_life_max`, so that no peer can keep a row for ever.
[[nodiscard]] wall_time keep_until(wall_time expires_at, wall_time now,
                                   const horizon_options& options);

/// How long a row lives at most after its message was processed.
[[nodiscard]] std::chrono::milliseconds row_life_max(const horizon_options& options);

/// Whether a message that has no row may have had one, so that it must not be taken for new.
[[nodiscard]] bool is_past_horizon(wall_time expires_at, wall_time now);

}  // namespace posthorn
