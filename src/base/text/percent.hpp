#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace posthorn {

// Percent-encoding, as URLs have it.

/// `a%20b` as `a b`; nothing if a percent sign is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);
/// As it may stand in a path or a query.
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace posthorn
