#pragma once

#include <string>
#include <string_view>

#include "transport/transport.hpp"

namespace posthorn {

// What a broker's word means for a message. Pure. Charged is only what the broker says of that very
// message; the rest is the way's affair.
//
// | it                                         | becomes         | charged |
// |--------------------------------------------|-----------------|---------|
// | has the message                            | delivered       | no      |
// | has no place for it: queue, stream         | undeliverable   | no      |
// | will never take it: too large              | permanent       | yes     |
// | cannot take it now: full, blocked          | throttled       | no      |
// | was not reached, or went before it said so | unanswered      | no      |

[[nodiscard]] delivery broker_has_it(bool duplicate = false);
/// `error_code::unroutable`.
[[nodiscard]] delivery broker_has_no_place(std::string_view why);
/// `error_code::message_too_large` or `invalid_argument`.
[[nodiscard]] delivery broker_never_takes(error_code code, std::string_view why);
/// `error_code::overloaded`, so that its lane rests.
[[nodiscard]] delivery broker_is_full(std::string_view why);
/// `error_code::unreachable`.
[[nodiscard]] delivery broker_is_silent(std::string_view why);

}  // namespace posthorn
