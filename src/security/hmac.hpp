#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "security/digest.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// HMAC-SHA256 of the text.
[[nodiscard]] sha256_digest hmac_of(const secret& key, std::string_view text);

/// In a time that tells nothing of where the two differ.
[[nodiscard]] bool is_same(const sha256_digest& right, std::span<const std::byte> given);

}  // namespace posthorn
