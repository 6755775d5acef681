#include "admin/access/token.hpp"

#include <algorithm>
#include <array>

#include "base/text/base64.hpp"
#include "security/hmac.hpp"

namespace posthorn {

std::string random_token(random_source& random) {
    std::array<std::byte, 32> bytes{};
    random.fill(bytes);
    auto text = encode_base64(bytes);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    std::erase(text, '=');
    return text;
}

bool has_digest(std::string_view text, const sha256_digest& digest) {
    return is_same(digest, sha256_of({text}));
}

}  // namespace posthorn
