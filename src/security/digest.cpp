#include "security/digest.hpp"

#include <cstdint>

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

// Fetched once: looking the algorithm up costs more than hashing a short message.
const EVP_MD* algorithm() {
    static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    POSTHORN_ASSERT(found != nullptr);
    return found;
}

}  // namespace

class sha256::state {
public:
    state() { POSTHORN_ASSERT(context != nullptr); }
    ~state() { EVP_MD_CTX_free(context); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    EVP_MD_CTX* const context = EVP_MD_CTX_new();
};

sha256::sha256() : state_(std::make_unique<state>()) { start(); }
sha256::~sha256() = default;

void sha256::start() {
    POSTHORN_ASSERT(EVP_DigestInit_ex2(state_->context, algorithm(), nullptr) == 1);
}

void sha256::add(std::span<const std::byte> bytes) {
    POSTHORN_ASSERT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

void sha256::add_field(std::string_view text) {
    std::array<std::byte, 8> length{};
    for (std::size_t i = 0; i < length.size(); ++i)
        length[i] = static_cast<std::byte>(std::uint64_t{text.size()} >> (8 * i));
    add(length);
    add(text);
}

sha256_digest sha256::finish() {
    sha256_digest out{};
    unsigned size = 0;
    POSTHORN_ASSERT(EVP_DigestFinal_ex(state_->context,
                                       reinterpret_cast<unsigned char*>(out.data()), &size) == 1);
    POSTHORN_ASSERT(size == out.size());
    start();
    return out;
}

sha256_digest sha256_of(std::initializer_list<std::string_view> slices) {
    thread_local sha256 reused;
    for (const auto slice : slices) reused.add(slice);
    return reused.finish();
}

}  // namespace posthorn
