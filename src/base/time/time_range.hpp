#pragma once

#include <optional>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"

namespace posthorn {

/// From one moment until before another; either may be left open.
struct time_range {
    std::optional<wall_time> since{};
    std::optional<wall_time> until{};

    bool operator==(const time_range&) const = default;
};

/// A moment that a person wrote. `error_code::invalid_argument` says what of, and how to write it.
[[nodiscard]] result<> read_time(std::string_view name, std::string_view text,
                                 std::optional<wall_time>& into);

/// Whether anything may lie in it. `error_code::invalid_argument` says what to give instead:
///
/// | `since`, `until`                | fits |
/// |---------------------------------|------|
/// | one of them before 1970         | no   |
/// | one more than a year after now  | no   |
/// | `since` at or after `until`     | no   |
/// | others, and those that are open | yes  |
[[nodiscard]] result<> check_times(const time_range& asked, wall_time now);

}  // namespace posthorn
