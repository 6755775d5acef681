#include "security/rf_hmac.hpp"

#include <array>

#include "base/assert.hpp"
#include "base/text/base64.hpp"
#include "message/compact_json.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

std::string text_of(const rf_hmac_content& what, std::string_view payload_hash) {
    std::string text;
    text.reserve(what.message_id.size() + what.source.size() + what.endpoint.size() +
                 payload_hash.size());
    text.append(what.message_id).append(what.source).append(what.endpoint).append(payload_hash);
    return text;
}

std::string upper(std::string text) {
    for (char& each : text)
        if (each >= 'a' && each <= 'f') each = static_cast<char>(each - 'a' + 'A');
    return text;
}

bool is_signed(const std::vector<const signing_key*>& keys, const rf_hmac_content& what,
               std::string_view payload, std::span<const std::byte> given) {
    const auto hash = sha256_of({payload});
    const auto digits = to_hex(hash);
    const std::array written{digits, upper(digits), encode_base64(hash)};
    bool found = false;
    for (const auto& one : written) {
        const auto text = text_of(what, one);
        for (const auto* key : keys) found |= is_same(hmac_of(key->value, text), given);
        if (found) break;
    }
    return found;
}

}  // namespace

result<std::string> sign_rf_hmac(const key_ring& keys, const rf_hmac_content& what, wall_time now) {
    POSTHORN_ASSERT(keys.scheme() == signature_scheme::rf_hmac);
    const auto* key = keys.signer(now);
    if (key == nullptr || key->value.empty())
        return fail(error_code::secret_unavailable,
                    "no key is in force; add one, or mend the dates of those there");
    return encode_base64(hmac_of(key->value, text_of(what, to_hex(sha256_of({what.payload})))));
}

result<> verify_rf_hmac(const key_ring& keys, const rf_hmac_content& what, std::string_view claimed,
                        wall_time now) {
    if (keys.scheme() != signature_scheme::rf_hmac)
        return fail(error_code::bad_signature, "sourceServiceId does not sign with rf-hmac");
    if (claimed.empty()) return fail(error_code::bad_signature, "it is not signed");
    const auto given = decode_base64(claimed);
    if (!given) return fail(error_code::bad_signature, "rf-hmac is not base64");
    const auto alive = keys.alive(now);
    if (is_signed(alive, what, what.payload, *given)) return {};
    const auto compact = compact_json(what.payload);
    if (compact != what.payload && is_signed(alive, what, compact, *given)) return {};
    return fail(error_code::bad_signature,
                "rf-hmac is not that of what came; the secrets differ, or it was changed");
}

}  // namespace posthorn
