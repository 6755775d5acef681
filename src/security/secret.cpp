#include "security/secret.hpp"

#include <utility>

#include <openssl/crypto.h>

#include "base/text/base64.hpp"

namespace posthorn {

void secret::wipe() noexcept {
    if (!bytes_.empty()) OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

secret::~secret() { wipe(); }

secret& secret::operator=(const secret& other) {
    if (this == &other) return *this;
    auto copy = other.bytes_;  // First, since it may throw.
    wipe();
    bytes_ = std::move(copy);
    return *this;
}

secret& secret::operator=(secret&& other) noexcept {
    if (this == &other) return *this;
    wipe();
    bytes_ = std::move(other.bytes_);
    other.bytes_.clear();
    return *this;
}

result<secret> secret::parse(std::string_view base64) {
    constexpr std::string_view prefix = "base64:";
    if (base64.starts_with(prefix)) base64.remove_prefix(prefix.size());
    auto bytes = decode_base64(base64);
    if (!bytes)
        return fail(error_code::secret_unavailable,
                    "the secret is not base64; make one with: openssl rand -base64 32");
    secret made(*bytes);
    OPENSSL_cleanse(bytes->data(), bytes->size());
    if (made.bytes_.size() < secret_bytes_min)
        return fail(error_code::secret_unavailable,
                    "the secret has {} bytes and needs at least {}; make one with: openssl rand "
                    "-base64 32",
                    made.bytes_.size(), secret_bytes_min);
    return made;
}

}  // namespace posthorn
