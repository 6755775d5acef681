#pragma once

#include <string>
#include <string_view>

#include "base/random.hpp"
#include "security/digest.hpp"

namespace posthorn {

/// 32 random bytes in base64url: 43 characters for URLs, headers and shells.
[[nodiscard]] std::string random_token(random_source& random);

/// Whether a text has that digest. How long it takes says nothing of where the two differ.
[[nodiscard]] bool has_digest(std::string_view text, const sha256_digest& digest);

}  // namespace posthorn
