#include "security/webhook_signature.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <openssl/crypto.h>

#include "base/assert.hpp"
#include "base/text/base64.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

constexpr std::string_view shared_prefix = "whsec_";
constexpr std::size_t made_bytes = 32;

}  // namespace

result<secret> parse_webhook_secret(std::string_view text) {
    auto bytes = text.starts_with(shared_prefix) ? decode_base64(text.substr(shared_prefix.size()))
                                                 : std::nullopt;
    if (!bytes || bytes->size() < webhook_secret_bytes_min ||
        bytes->size() > webhook_secret_bytes_max)
        return fail(error_code::secret_unavailable,
                    "a secret of a webhook is whsec_ and {} to {} bytes in base64; leave it out, "
                    "and one is made",
                    webhook_secret_bytes_min, webhook_secret_bytes_max);
    secret shared(*bytes);
    OPENSSL_cleanse(bytes->data(), bytes->size());
    return shared;
}

secret make_webhook_secret(random_source& random) {
    std::array<std::byte, made_bytes> bytes{};
    random.fill(bytes);
    secret made(bytes);
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return made;
}

std::string reveal_webhook_secret(const secret& shared) {
    return std::string(shared_prefix) + encode_base64(shared.reveal());
}

result<secret> parse_outbox_secret(std::string_view text) {
    if (text.size() < secret_bytes_min || text.size() > outbox_secret_bytes_max)
        return fail(error_code::secret_unavailable,
                    "a secret of a webhook in the style 'outbox' has {} to {} bytes; it has {}",
                    secret_bytes_min, outbox_secret_bytes_max, text.size());
    return secret(std::as_bytes(std::span(text)));
}

std::string sign_webhook(const webhook_head& head, std::string_view body,
                         std::span<const secret> live, const ed25519_pair* pair) {
    POSTHORN_ASSERT(!live.empty() || pair != nullptr);
    POSTHORN_ASSERT(!head.id.empty() && head.id.find('.') == head.id.npos);
    const auto text = fmt::format("{}.{}.{}", head.id, head.timestamp, body);
    std::string all;
    const auto add = [&](std::string_view version, std::span<const std::byte> signature) {
        all += fmt::format("{}{},{}", all.empty() ? "" : " ", version, encode_base64(signature));
    };
    for (const auto& each : live) add("v1", hmac_of(each, text));
    if (pair != nullptr) add("v1a", pair->sign(text));
    return all;
}

std::string sign_outbox(std::string_view body, const secret& shared, hex_case written) {
    auto digits = to_hex(hmac_of(shared, body));
    if (written == hex_case::upper)
        for (char& c : digits)
            if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
    return "sha256=" + digits;
}

}  // namespace posthorn
