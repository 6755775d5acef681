#include "security/hmac.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

/// OpenSSL's context. Made once for each thread: making one costs more than signing with it.
class context {
public:
    context() {
        POSTHORN_ASSERT(handle_ != nullptr);
        char digest[] = "SHA256";
        const OSSL_PARAM settings[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
            OSSL_PARAM_construct_end()};
        POSTHORN_ASSERT(EVP_MAC_CTX_set_params(handle_, settings) == 1);
    }
    ~context() { EVP_MAC_CTX_free(handle_); }
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    sha256_digest compute(std::span<const std::byte> key, std::string_view text) {
        const auto* data = reinterpret_cast<const unsigned char*>(text.data());
        const auto* secret = reinterpret_cast<const unsigned char*>(key.data());
        sha256_digest out{};
        std::size_t size = 0;
        POSTHORN_ASSERT(EVP_MAC_init(handle_, secret, key.size(), nullptr) == 1);
        POSTHORN_ASSERT(EVP_MAC_update(handle_, data, text.size()) == 1);
        POSTHORN_ASSERT(EVP_MAC_final(handle_, reinterpret_cast<unsigned char*>(out.data()), &size,
                                      out.size()) == 1);
        POSTHORN_ASSERT(size == out.size());
        return out;
    }

private:
    static EVP_MAC* algorithm() {
        static EVP_MAC* const found = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        POSTHORN_ASSERT(found != nullptr);
        return found;
    }

    EVP_MAC_CTX* const handle_ = EVP_MAC_CTX_new(algorithm());
};

}  // namespace

sha256_digest hmac_of(const secret& key, std::string_view text) {
    POSTHORN_ASSERT(!key.empty());  // OpenSSL would go on with the key of the call before.
    thread_local context reused;
    return reused.compute(key.reveal(), text);
}

bool is_same(const sha256_digest& right, std::span<const std::byte> given) {
    return given.size() == right.size() &&
           CRYPTO_memcmp(right.data(), given.data(), right.size()) == 0;
}

}  // namespace posthorn
