#include "limit/mac.hpp"

#include <stdexcept>
#include <string>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

namespace posthorn::bench {
namespace {

const std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

mac::mac(std::string_view key)
    : kind_(EVP_MAC_fetch(nullptr, "HMAC", nullptr)), state_(EVP_MAC_CTX_new(kind_)) {
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 2> with{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    if (EVP_MAC_init(state_, bytes_of(key), key.size(), with.data()) != 1)
        throw std::runtime_error("no HMAC");
}

mac::~mac() {
    EVP_MAC_CTX_free(state_);
    EVP_MAC_free(kind_);
}

mac_bytes mac::sign(std::string_view first, std::string_view second) {
    mac_bytes made{};
    std::size_t size = 0;
    if (EVP_MAC_init(state_, nullptr, 0, nullptr) != 1 ||
        EVP_MAC_update(state_, bytes_of(first), first.size()) != 1 ||
        EVP_MAC_update(state_, bytes_of(second), second.size()) != 1 ||
        EVP_MAC_final(state_, made.data(), &size, made.size()) != 1)
        throw std::runtime_error("no HMAC");
    return made;
}

bool mac::equal(const mac_bytes& a, const mac_bytes& b) {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace posthorn::bench
