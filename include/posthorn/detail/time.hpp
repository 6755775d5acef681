#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace posthorn {

/// A moment in UTC, as stored and sent: whole milliseconds since 1970.
using wall_time = std::chrono::sys_time<std::chrono::milliseconds>;

/// `2026-02-14T12:00:00.123Z`, always 24 characters.
///
/// A time outside the years 0001 to 9999 is shown as the nearest one inside, so that the text keeps
/// its length and its order.
[[nodiscard]] std::string to_iso8601(wall_time time);

/// Reads `2026-02-14T12:00:00Z`, with an offset such as `+01:00` in place of `Z`, and with a
/// fraction of one to nine digits, of which those past the milliseconds are dropped.
///
/// Empty for everything else: days that no calendar has, leap seconds, other separators, spaces,
/// and times that in UTC lie outside the years 0001 to 9999.
[[nodiscard]] std::optional<wall_time> parse_iso8601(std::string_view text);

}  // namespace posthorn
