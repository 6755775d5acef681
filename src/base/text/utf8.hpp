#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace posthorn {

/// Whether text is UTF-8 throughout, so that JSON can carry it.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// At most the first `characters_max` characters; each byte that is not UTF-8 counts as one and
/// becomes U+FFFD. What was cut ends in `…`, which counts too.
[[nodiscard]] std::string clean_utf8(std::string_view text, std::size_t characters_max);

}  // namespace posthorn
