#include "security/md5.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace posthorn {

std::array<std::uint8_t, 16> md5(std::string_view text) {
    std::array<std::uint8_t, 16> made{};
    unsigned size = 0;
    POSTHORN_ASSERT(EVP_Digest(text.data(), text.size(), made.data(), &size, EVP_md5(), nullptr) ==
                        1 &&
                    size == made.size());
    return made;
}

}  // namespace posthorn
