#include "fuzz/canonical_target.hpp"

#include <array>
#include <charconv>
#include <string>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "fuzz/promise.hpp"
#include "security/signature.hpp"

namespace posthorn {
namespace {

using fuzz::demand;
using fuzz::take_until;

constexpr std::string_view secret_text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// One signed text's fields, as a stranger may choose them.
struct claim {
    std::string key, source, destination, path, content_type, body, request_hmac;
    std::uint16_t status = 0;
    wall_time at{};

    static claim take(std::string_view& rest) {
        constexpr char unit_separator = '\x1f';
        claim made;
        for (auto* each : {&made.key, &made.source, &made.destination, &made.path,
                           &made.content_type, &made.body, &made.request_hmac})
            *each = take_until(rest, unit_separator);
        const auto status = take_until(rest, unit_separator);
        std::from_chars(status.begin(), status.end(), made.status);
        std::uint32_t seconds = 0;
        const auto time = take_until(rest, unit_separator);
        std::from_chars(time.begin(), time.end(), seconds);
        made.at = wall_time(std::chrono::seconds(seconds));
        if (made.status == 0) made.request_hmac.clear();  // A request has none.
        return made;
    }
    [[nodiscard]] signed_content content() const {
        return {path, content_type, body, request_hmac, status};
    }
    bool operator==(const claim&) const = default;
};

std::string naive_hash(std::string_view body) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data());
    std::string hex;
    for (const auto byte : digest) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[byte / 16];
        hex += digits[byte % 16];
    }
    return hex;
}

std::vector<std::string> naive_fields(const claim& of, const std::string& timestamp) {
    std::vector<std::string> all{of.key,          of.status == 0 ? "request" : "answer",
                                 of.source,       of.destination,
                                 of.path,         timestamp,
                                 of.content_type, naive_hash(of.body)};
    if (of.status != 0) {
        all.push_back(of.request_hmac);
        all.push_back(std::to_string(of.status));
    }
    return all;
}

std::string naive_text(const std::vector<std::string>& fields) {
    std::string text = "posthorn-v2\n";
    for (const auto& one : fields) text += std::to_string(one.size()) + ":" + one + ",";
    return text;
}

// That the fields can be read back from every text is that no two lists of them give the same one.
std::vector<std::string> read_back(std::string_view text) {
    demand(take_until(text, '\n') == "posthorn-v2", "a signed text begins with its domain");
    std::vector<std::string> fields;
    while (!text.empty()) {
        std::size_t size = 0;
        const auto length = take_until(text, ':');
        const auto [end, failure] = std::from_chars(length.begin(), length.end(), size);
        demand(failure == std::errc{} && end == length.end() && size < text.size(),
               "a length stands before every field");
        fields.emplace_back(text.substr(0, size));
        demand(text[size] == ',', "a comma stands behind every field");
        text.remove_prefix(size + 1);
    }
    return fields;
}

std::string naive_hmac(std::string_view text) {
    std::array<unsigned char, 32> key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), key.size(), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), digest.data(), &size);
    std::array<unsigned char, 64> base64{};
    const auto written = EVP_EncodeBlock(base64.data(), digest.data(), digest.size());
    return {reinterpret_cast<const char*>(base64.data()), static_cast<std::size_t>(written)};
}

/// What the product signs and what the page says are the same; the headers of it.
signature_headers check_one(const claim& of) {
    const key_ring keys({{.id = of.key, .value = *secret::parse(secret_text)}});
    auto made =
        sign(keys, {.source = of.source, .destination = of.destination}, of.content(), of.at);
    demand(made.has_value(), "whoever has a key can sign");
    const auto fields = naive_fields(of, made->timestamp);
    const auto text = naive_text(fields);
    demand(read_back(text) == fields, "fields can be read back from the text that is signed");
    demand(made->hmac == naive_hmac(text), "the text that is signed is that of the page");
    return *std::move(made);
}

bool is_service(std::string_view id) {
    return !id.empty() && id.size() <= 255 &&
           std::ranges::all_of(id, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_accepted(const claim& as, const signature_headers& claimed) {
    const key_ring keys({{.id = as.key, .value = *secret::parse(secret_text)}});
    return verify(keys, {.source = as.source, .destination = as.destination}, claimed, as.content(),
                  as.at)
        .has_value();
}

}  // namespace

void fuzz_canonical(const std::uint8_t* data, std::size_t size) {
    auto rest = fuzz::text_of(data, size);
    const auto first = claim::take(rest);
    const auto second = claim::take(rest);
    const auto of_first = check_one(first);
    auto of_second = check_one(second);
    demand(
        is_accepted(first, of_first) == (is_service(first.source) && is_service(first.destination)),
        "what was signed is accepted, between services that can be named");
    const bool same =
        naive_fields(first, of_first.timestamp) == naive_fields(second, of_second.timestamp);
    demand((of_first.hmac == of_second.hmac) == same, "no two lists of fields have one signature");
    of_second.hmac = of_first.hmac;
    if (!same) demand(!is_accepted(second, of_second), "a signature serves for nothing else");
}

}  // namespace posthorn
