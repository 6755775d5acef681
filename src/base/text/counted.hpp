#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace posthorn {

/// A number and what it counts, in the form that goes with it: `1 message waits`, `2 messages wait`.
[[nodiscard]] inline std::string counted(std::integral auto number, std::string_view one,
                                         std::string_view many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

/// The same where an s is all that changes.
[[nodiscard]] inline std::string counted(std::integral auto number, std::string_view one) {
    return counted(number, one, fmt::format("{}s", one));
}

}  // namespace posthorn
