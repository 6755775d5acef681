#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// The bytes in the gzip format (RFC 1952), made smaller by what repeats in them and by the fixed
/// codes of deflate: quick, and enough for telemetry, in which names repeat.
[[nodiscard]] std::string gzip(std::string_view bytes);

}  // namespace posthorn
