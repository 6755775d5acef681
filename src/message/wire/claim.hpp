#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// What a message that is not verified yet says of itself, as far as the older signatures need it
/// to find and use a key.
struct envelope_claim {
    std::string message_id;  // As it is written.
    std::string source;
    std::string endpoint;
    std::string payload = "null";  // JSON, as it stands in the text.
    std::string hmac{};            // The header `rf-hmac`.
    std::string timestamp{};       // The header `rf-timestamp`.
};

/// `error_code::malformed_request`, which names the field and quotes nothing.
[[nodiscard]] result<envelope_claim> read_claim(std::string_view json);

}  // namespace posthorn
