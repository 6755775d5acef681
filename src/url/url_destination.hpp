#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include <posthorn/transport.hpp>

#include "security/address_guard.hpp"

namespace posthorn {

// What may stand as a destination in place of a service's name. Pure.

inline constexpr std::size_t url_destination_bytes_max = 255;  // More cannot be signed for.

/// The parts of a URL that messages may be sent to, or why none ever will be as things are, and what
/// to do about it; the URL is not quoted, since it may hold a password.
[[nodiscard]] std::expected<http_url, std::string> judge_destination(std::string_view text,
                                                                     const guard_rules& rules);

/// What came of an attempt through a guarded channel, as a lane must take it:
///
/// | the answer                              | becomes                                  |
/// |-----------------------------------------|------------------------------------------|
/// | `unanswered`, the guard refused         | `transient`: a name may mean another     |
/// |                                         | address later, but not for ever          |
/// | `unanswered`, no connection is free     | `throttled`, for a second                |
/// | any other                               | itself                                   |
[[nodiscard]] delivery judge_attempt(delivery answer);

}  // namespace posthorn
