#include "security/x_workflow.hpp"

#include <charconv>
#include <optional>

#include "base/assert.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"
#include "security/signature.hpp"

namespace posthorn {
namespace {

using std::chrono::seconds;

constexpr std::size_t signatures_max = 8;

struct claims {
    std::string_view seconds_text;
    std::vector<std::vector<std::byte>> signatures;
};

std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
    if (text.size() != 2 * sha256_digest{}.size()) return std::nullopt;
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        unsigned char byte = 0;
        const auto* const end = text.data() + at + 2;
        const auto [stop, failure] = std::from_chars(text.data() + at, end, byte, 16);
        if (failure != std::errc{} || stop != end) return std::nullopt;
        bytes.push_back(std::byte{byte});
    }
    return bytes;
}

result<claims> read(std::string_view header) {
    claims read;
    while (!header.empty()) {
        const auto comma = header.find(',');
        auto field = header.substr(0, comma);
        header.remove_prefix(comma == header.npos ? header.size() : comma + 1);
        while (field.starts_with(' ')) field.remove_prefix(1);
        if (field.starts_with("t=")) {
            if (!read.seconds_text.empty())
                return fail(error_code::bad_signature, "X-Workflow-Signature has two times");
            read.seconds_text = field.substr(2);
        } else if (field.starts_with("v1=")) {
            auto bytes = from_hex(field.substr(3));
            if (bytes && read.signatures.size() < signatures_max)
                read.signatures.push_back(*std::move(bytes));
        }
    }
    return read;
}

result<> check_time(std::string_view text, wall_time now) {
    std::int64_t since = 0;
    constexpr std::size_t digits_max = 12;
    const auto [stop, failure] = std::from_chars(text.begin(), text.end(), since);
    if (text.empty() || text.size() > digits_max || failure != std::errc{} || stop != text.end())
        return fail(error_code::bad_signature,
                    "X-Workflow-Signature has no time in seconds, as t=1771070400");
    const wall_time at{seconds{since}};
    if (at < now - signature_window || at > now + signature_window)
        return fail(error_code::bad_signature,
                    "t is more than five minutes off; set both clocks right");
    return {};
}

std::string text_of(std::string_view seconds_text, std::string_view body) {
    std::string text;
    text.reserve(seconds_text.size() + 1 + body.size());
    text.append(seconds_text).append(1, '.').append(body);
    return text;
}

}  // namespace

result<std::string> sign_x_workflow(const key_ring& keys, std::string_view body, wall_time now) {
    POSTHORN_ASSERT(keys.scheme() == signature_scheme::x_workflow);
    const auto* key = keys.signer(now);
    if (key == nullptr || key->value.empty())
        return fail(error_code::secret_unavailable,
                    "no key is in force; add one, or mend the dates of those there");
    const auto since = fmt::to_string(std::chrono::floor<seconds>(now.time_since_epoch()).count());
    return fmt::format("t={},v1={}", since, to_hex(hmac_of(key->value, text_of(since, body))));
}

result<> verify_x_workflow(const key_ring& keys, std::string_view header, std::string_view body,
                           wall_time now) {
    if (keys.scheme() != signature_scheme::x_workflow)
        return fail(error_code::bad_signature, "sourceServiceId does not sign with x-workflow");
    if (header.empty()) return fail(error_code::bad_signature, "it is not signed");
    const auto claimed = read(header);
    POSTHORN_TRY(claimed);
    POSTHORN_TRY(check_time(claimed->seconds_text, now));
    const auto text = text_of(claimed->seconds_text, body);
    bool found = false;
    for (const auto* key : keys.alive(now)) {
        const auto right = hmac_of(key->value, text);
        for (const auto& given : claimed->signatures) found |= is_same(right, given);
    }
    if (!found)
        return fail(error_code::bad_signature,
                    "no v1 is that of what came; the secrets differ, or it was changed");
    return {};
}

}  // namespace posthorn
