#pragma once

#include <string>
#include <string_view>

namespace posthorn {

inline constexpr std::size_t cause_characters_max = 200;

/// An error without what differs from one message to the next, so that messages that died of the
/// same thing are found together. Pure.
///
/// | in the text                                | becomes     |
/// |--------------------------------------------|-------------|
/// | a quoted text, of any of the three quotes  | `<text>`    |
/// | a UUID, or a long word of letters and digits | `<id>`    |
/// | a date, a time of day                      | `<time>`    |
/// | a URL, an IP address, a host with its port | `<address>` |
/// | an absolute path                           | `<path>`    |
/// | 0x and digits, eight or more hex digits    | `<hex>`     |
/// | any other number                           | `<n>`       |
///
/// The status of an answer stays, since it tells causes apart. Blanks and control characters become
/// one blank. An empty error is the cause `no reason given`.
[[nodiscard]] std::string normalise_cause(std::string_view error);

}  // namespace posthorn
