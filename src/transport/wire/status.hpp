#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "message/wire/answer.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

// The table "Status and code" of docs/reference/wire.md, in both directions. Pure.

inline constexpr std::chrono::hours retry_after_max{1};  // A longer pause is cut to it.

/// How a receiver says what came of a message. Its id is left out.
[[nodiscard]] wire_answer to_wire(delivery what);
/// How a receiver refuses what it does not hand on.
[[nodiscard]] wire_answer refuse(const error& why);

/// How a sender takes a signed answer; `header` is the Retry-After beside it, for answers that have
/// none inside.
[[nodiscard]] delivery from_wire(wire_answer said,
                                 std::optional<std::chrono::milliseconds> header = std::nullopt);
/// How a sender takes a reply that it cannot believe: as none, or as a plea for patience.
[[nodiscard]] delivery from_unsigned(const wire_reply& reply, const error& why);

/// Whether the peer does not know batches; that needs no signature, since such a peer has no way to
/// answer, and single messages do no harm.
[[nodiscard]] bool lacks_batches(const wire_reply& reply);

}  // namespace posthorn
