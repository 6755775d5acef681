#include "security/secret_box.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/assert.hpp"
#include "base/text/base64.hpp"
#include "security/digest.hpp"
#include "security/hex.hpp"

namespace posthorn {
namespace {

constexpr std::string_view format_prefix = "sealed1:";  // Then the key's name, a colon and base64.
constexpr std::size_t name_digits = 16;
constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;

struct cipher_freer {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using cipher_ptr = std::unique_ptr<EVP_CIPHER_CTX, cipher_freer>;

const unsigned char* raw(const void* data) { return static_cast<const unsigned char*>(data); }
unsigned char* raw(void* data) { return static_cast<unsigned char*>(data); }
int length(std::size_t size) { return static_cast<int>(size); }

std::string name_of(const secret& key) {
    const auto* const bytes = reinterpret_cast<const char*>(key.reveal().data());
    return to_hex(sha256_of({"posthorn webhook key", {bytes, key.reveal().size()}}))
        .substr(0, name_digits);
}

struct sealed_parts {
    std::string_view key_name;
    std::vector<std::byte> bytes;  // Nonce, text, tag.
};

std::optional<sealed_parts> split(std::string_view sealed) {
    if (!sealed.starts_with(format_prefix)) return std::nullopt;
    sealed.remove_prefix(format_prefix.size());
    if (sealed.size() <= name_digits || sealed[name_digits] != ':') return std::nullopt;
    auto bytes = decode_base64(sealed.substr(name_digits + 1));
    if (!bytes || bytes->size() <= nonce_bytes + tag_bytes) return std::nullopt;
    return sealed_parts{sealed.substr(0, name_digits), *std::move(bytes)};
}

}  // namespace

result<secret_box> secret_box::make(std::vector<secret> keys) {
    std::vector<named_key> named;
    for (auto& each : keys) {
        if (each.reveal().size() != key_bytes)
            return fail(error_code::secret_unavailable,
                        "a key that seals secrets has {} bytes, and this one has {}; make one with "
                        "openssl rand -base64 {}",
                        key_bytes, each.reveal().size(), key_bytes);
        auto name = name_of(each);
        named.push_back({std::move(name), std::move(each)});
    }
    if (named.empty())
        return fail(error_code::secret_unavailable, "there is no key to seal secrets with");
    return secret_box(std::move(named));
}

std::string secret_box::seal(const secret& plain, std::string_view place,
                             random_source& random) const {
    const auto text = plain.reveal();
    POSTHORN_ASSERT(!text.empty());
    std::vector<std::byte> bytes(nonce_bytes + text.size() + tag_bytes);
    random.fill(std::span(bytes).first(nonce_bytes));
    auto* const nonce = raw(bytes.data());
    auto* const hidden = nonce + nonce_bytes;
    const cipher_ptr cipher(EVP_CIPHER_CTX_new());
    int written = 0;
    const auto& key = keys_.front();
    POSTHORN_ASSERT(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                                       raw(key.key.reveal().data()), nonce) == 1);
    POSTHORN_ASSERT(EVP_EncryptUpdate(cipher.get(), nullptr, &written, raw(place.data()),
                                      length(place.size())) == 1);
    POSTHORN_ASSERT(EVP_EncryptUpdate(cipher.get(), hidden, &written, raw(text.data()),
                                      length(text.size())) == 1);
    POSTHORN_ASSERT(EVP_EncryptFinal_ex(cipher.get(), hidden + written, &written) == 1);
    POSTHORN_ASSERT(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, length(tag_bytes),
                                        hidden + text.size()) == 1);
    return fmt::format("{}{}:{}", format_prefix, key.name, encode_base64(bytes));
}

result<secret> secret_box::open(std::string_view sealed, std::string_view place) const {
    auto parts = split(sealed);
    if (!parts)
        return fail(error_code::secret_unavailable,
                    "the stored secret is not one that was sealed; rotate it");
    const auto key = std::ranges::find(keys_, parts->key_name, &named_key::name);
    if (key == keys_.end())
        return fail(error_code::secret_unavailable,
                    "the stored secret was sealed under the key {}, which is not among those "
                    "given; add that key, or rotate the secret",
                    parts->key_name);
    const auto size = parts->bytes.size() - nonce_bytes - tag_bytes;
    auto* const nonce = raw(parts->bytes.data());
    auto* const hidden = nonce + nonce_bytes;
    std::vector<std::byte> text(size);
    const cipher_ptr cipher(EVP_CIPHER_CTX_new());
    int written = 0;
    const bool opened =
        EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, raw(key->key.reveal().data()),
                           nonce) == 1 &&
        EVP_DecryptUpdate(cipher.get(), nullptr, &written, raw(place.data()),
                          length(place.size())) == 1 &&
        EVP_DecryptUpdate(cipher.get(), raw(text.data()), &written, hidden, length(size)) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, length(tag_bytes), hidden + size) ==
            1 &&
        EVP_DecryptFinal_ex(cipher.get(), raw(text.data()) + written, &written) == 1;
    secret plain(opened ? std::span<const std::byte>(text) : std::span<const std::byte>());
    OPENSSL_cleanse(text.data(), text.size());
    if (!opened)
        return fail(error_code::secret_unavailable,
                    "the stored secret was changed, or was sealed for another place; rotate it");
    return plain;
}

bool secret_box::is_old(std::string_view sealed) const {
    const auto parts = split(sealed);
    return parts && parts->key_name != keys_.front().name;
}

}  // namespace posthorn
