#include "security/signature.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/assert.hpp"
#include "base/planted.hpp"
#include "base/text/base64.hpp"
#include "base/text/http_url.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

constexpr std::string_view scheme = "v2";
constexpr std::string_view domain = "posthorn-v2\n";
constexpr std::size_t service_size_max = 255;

/// A field as its length in decimal, a colon, its bytes and a comma: no two lists of fields give
/// the same text.
void append_netstring(std::string& out, std::string_view field) {
    if (POSTHORN_PLANTED(signed_without_lengths)) {
        out += field;
        return;
    }
    // By hand: a pattern that is read anew for each field was a twentieth of what a message costs.
    const fmt::format_int length(field.size());
    out.append(length.data(), length.size()).append(1, ':').append(field).append(1, ',');
}

std::string text_of(const signature_headers& headers, const signed_content& what) {
    std::string text;
    text.reserve(512);
    text += domain;
    append_netstring(text, headers.key);
    append_netstring(text, what.is_answer() ? "answer" : "request");
    append_netstring(text, headers.source);
    append_netstring(text, headers.destination);
    append_netstring(text, what.path);
    append_netstring(text, headers.timestamp);
    append_netstring(text, what.content_type);
    append_netstring(text, to_hex(sha256_of({what.body})));
    if (what.is_answer()) {
        append_netstring(text, what.request_hmac);
        append_netstring(text, fmt::format_int(what.status).c_str());
    }
    return text;
}

bool is_service_id(std::string_view id) {
    return !id.empty() && id.size() <= service_size_max &&
           std::ranges::all_of(id, [](char c) { return c > ' ' && c < 0x7f; });
}

/// How far the clocks are apart, as people say it.
std::string difference(std::string_view signer, wall_time at, wall_time now) {
    const auto seconds = std::chrono::round<std::chrono::seconds>(at - now).count();
    return fmt::format("{}'s clock is {} s {} the other side's", signer, std::abs(seconds),
                       seconds > 0 ? "ahead of" : "behind");
}

result<> check_time(std::string_view written, std::string_view signer, wall_time now) {
    const auto at = written.ends_with('Z') ? parse_iso8601(written) : std::nullopt;
    if (!at)
        return fail(error_code::bad_signature, "rf-timestamp is not a time in UTC that ends in Z");
    if (POSTHORN_PLANTED(old_timestamp_accepted)) return {};
    if (*at < now - signature_window || *at > now + signature_window)
        return fail(error_code::bad_signature,
                    "{}, and five minutes are allowed; set both clocks right",
                    difference(signer, *at, now));
    return {};
}

result<> check_pair(const signed_pair& who, const signature_headers& claimed) {
    if (!is_service_id(claimed.source) || claimed.source != who.source)
        return fail(error_code::bad_signature, "rf-source is not the service that it must be from");
    if (POSTHORN_PLANTED(destination_not_compared)) return {};
    if (!is_service_id(claimed.destination) || claimed.destination != who.destination)
        return has_http_scheme(claimed.destination)
                   ? fail(error_code::bad_signature,
                          "rf-destination is a URL that is not in service.urls here; add it there, "
                          "or correct it where it was sent to")
                   : fail(error_code::bad_signature,
                          "rf-destination is another service; correct the route or the service id");
    return {};
}

}  // namespace

result<signature_headers> sign(const key_ring& keys, const signed_pair& who,
                               const signed_content& what, wall_time now) {
    POSTHORN_ASSERT(keys.scheme() == signature_scheme::v2);
    const auto* key = keys.signer(now);
    if (key == nullptr || key->value.empty())
        return fail(error_code::secret_unavailable,
                    "no key for {} to {} is in force; add one, or mend the dates of those there",
                    who.source, who.destination);
    signature_headers made{.scheme = std::string(scheme),
                           .key = key->id,
                           .source = std::string(who.source),
                           .destination = std::string(who.destination),
                           .timestamp = to_iso8601(now),
                           .hmac = {}};
    made.hmac = encode_base64(hmac_of(key->value, text_of(made, what)));
    return made;
}

namespace {

/// What is left to compare once a claim is known to be one.
struct known_claim {
    const signing_key* key;
    std::vector<std::byte> hmac;
};

result<known_claim> read_claim(const key_ring& keys, const signed_pair& who,
                               const signature_headers& claimed, wall_time now) {
    if (claimed.scheme.empty() && claimed.hmac.empty())
        return fail(error_code::bad_signature, "it is not signed");
    if (claimed.scheme != scheme)
        return fail(error_code::bad_signature, "rf-scheme is not {}", scheme);
    if (keys.scheme() != signature_scheme::v2)
        return fail(error_code::bad_signature, "rf-source signs with {} and nothing else",
                    to_string(keys.scheme()));
    POSTHORN_TRY(check_pair(who, claimed));
    POSTHORN_TRY(check_time(claimed.timestamp, who.source, now));
    const auto* key = keys.find(claimed.key, now);
    if (key == nullptr || key->value.empty())
        return fail(
            error_code::bad_signature,
            "the key that {} signs with is unknown, revoked or past its date on the other side; "
            "give both sides the same keys and reload them",
            who.source);
    auto given = decode_base64(claimed.hmac);
    if (!given) return fail(error_code::bad_signature, "rf-hmac is not base64");
    return known_claim{key, *std::move(given)};
}

}  // namespace

result<> check_claim(const key_ring& keys, const signed_pair& who, const signature_headers& claimed,
                     wall_time now) {
    POSTHORN_TRY(read_claim(keys, who, claimed, now));
    return {};
}

result<> verify(const key_ring& keys, const signed_pair& who, const signature_headers& claimed,
                const signed_content& what, wall_time now) {
    POSTHORN_LET(known, read_claim(keys, who, claimed, now));
    if (!is_same(hmac_of(known.key->value, text_of(claimed, what)), known.hmac))
        return fail(error_code::bad_signature,
                    "rf-hmac is not that of what came; the secrets differ, or it was changed");
    return {};
}

}  // namespace posthorn
