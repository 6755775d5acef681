#pragma once

#include <string_view>

#include "security/digest.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// HMAC-SHA256 of the text.
[[nodiscard]] sha256_digest hmac_of(const secret& key, std::string_view text);

}  // namespace posthorn
