#include "security/ed25519.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/assert.hpp"
#include "base/text/base64.hpp"

namespace posthorn {
namespace {

constexpr std::string_view private_prefix = "whsk_";
constexpr std::string_view public_prefix = "whpk_";
constexpr std::size_t seed_bytes = 32;

struct key_freer {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, key_freer>;

struct context_freer {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

const unsigned char* raw(const void* data) { return static_cast<const unsigned char*>(data); }

key_ptr key_of(std::span<const std::byte> seed) {
    key_ptr key(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw(seed.data()), seed.size()));
    POSTHORN_ASSERT(key != nullptr);
    return key;
}

}  // namespace

ed25519_pair::ed25519_pair(secret seed) : seed_(std::move(seed)) {
    std::size_t size = public_.size();
    const auto got = EVP_PKEY_get_raw_public_key(
        key_of(seed_.reveal()).get(), reinterpret_cast<unsigned char*>(public_.data()), &size);
    POSTHORN_ASSERT(got == 1 && size == public_.size());
}

ed25519_pair ed25519_pair::make(random_source& random) {
    std::array<std::byte, seed_bytes> seed{};
    random.fill(seed);
    ed25519_pair made{secret(seed)};
    OPENSSL_cleanse(seed.data(), seed.size());
    return made;
}

result<ed25519_pair> ed25519_pair::parse(std::string_view text) {
    return parse(text, private_prefix);
}

result<ed25519_pair> ed25519_pair::parse(std::string_view text, std::string_view prefix) {
    const auto use = prefix == private_prefix ? " for webhooks" : "";
    auto bytes =
        text.starts_with(prefix) ? decode_base64(text.substr(prefix.size())) : std::nullopt;
    if (!bytes || (bytes->size() != seed_bytes && bytes->size() != 2 * seed_bytes))
        return fail(error_code::secret_unavailable,
                    "a private key{} is {} and 32 or 64 bytes in base64", use, prefix);
    ed25519_pair pair{secret(std::span(*bytes).first(seed_bytes))};
    const bool fits = std::ranges::equal(std::span(*bytes).subspan(seed_bytes),
                                         std::span(pair.public_).first(bytes->size() - seed_bytes));
    OPENSSL_cleanse(bytes->data(), bytes->size());
    if (!fits)
        return fail(error_code::secret_unavailable,
                    "the two halves of a private key{} are of different keys", use);
    return pair;
}

ed25519_signature ed25519_pair::sign(std::string_view text) const {
    const auto key = key_of(seed_.reveal());
    const std::unique_ptr<EVP_MD_CTX, context_freer> context(EVP_MD_CTX_new());
    POSTHORN_ASSERT(context != nullptr);
    ed25519_signature made{};
    std::size_t size = made.size();
    POSTHORN_ASSERT(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
    POSTHORN_ASSERT(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(made.data()),
                                   &size, raw(text.data()), text.size()) == 1);
    POSTHORN_ASSERT(size == made.size());
    return made;
}

std::string ed25519_pair::public_text() const { return ed25519_text(public_, public_prefix); }

std::string ed25519_pair::reveal() const { return reveal(private_prefix); }

std::string ed25519_pair::reveal(std::string_view prefix) const {
    std::vector<std::byte> both(seed_.reveal().begin(), seed_.reveal().end());
    both.insert(both.end(), public_.begin(), public_.end());
    auto text = std::string(prefix) + encode_base64(both);
    OPENSSL_cleanse(both.data(), both.size());
    return text;
}

bool verify_ed25519(const ed25519_public& key, std::string_view text,
                    const ed25519_signature& signature) {
    const key_ptr known(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(key.data()), key.size()));
    const std::unique_ptr<EVP_MD_CTX, context_freer> context(EVP_MD_CTX_new());
    POSTHORN_ASSERT(context != nullptr);
    return known != nullptr &&
           EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, known.get()) == 1 &&
           EVP_DigestVerify(context.get(), raw(signature.data()), signature.size(),
                            raw(text.data()), text.size()) == 1;
}

std::string ed25519_text(const ed25519_public& key, std::string_view prefix) {
    return std::string(prefix) + encode_base64(key);
}

std::optional<ed25519_public> parse_ed25519_public(std::string_view text, std::string_view prefix) {
    const auto bytes =
        text.starts_with(prefix) ? decode_base64(text.substr(prefix.size())) : std::nullopt;
    ed25519_public key{};
    if (!bytes || bytes->size() != key.size()) return {};
    std::ranges::copy(*bytes, key.begin());
    return key;
}

}  // namespace posthorn
