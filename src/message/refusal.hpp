#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace posthorn {

/// The headers of a Response that tells why a Command was refused, where the one that was asked
/// decides later than it takes the Command in.
[[nodiscard]] std::string refusal_headers(std::string_view why);

/// Why, if these headers say so. Headers that are not as Posthorn writes them say nothing.
[[nodiscard]] std::optional<std::string> refusal_in(std::string_view headers);

}  // namespace posthorn
