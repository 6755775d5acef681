#include "admin/access.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "security/hex.hpp"

namespace posthorn {
namespace {

constexpr std::string_view hash_prefix = "sha256:";
constexpr std::string_view key_prefix = "phk_";
constexpr std::size_t key_characters_max = 256;

std::optional<unsigned> hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
    return std::nullopt;
}

// Base64 as it may stand in URLs, headers and shells, without padding.
std::string to_base64url(std::span<const std::byte> bytes) {
    auto text = encode_base64(bytes);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    std::erase(text, '=');
    return text;
}

// How long it takes says nothing of where they differ.
bool equal_in_constant_time(const sha256_digest& a, const sha256_digest& b) {
    std::byte difference{};
    for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
    return difference == std::byte{};
}

bool may(admin_role has, admin_role needed) {
    return has == needed || has == admin_role::operator_;
}

std::optional<std::string_view> bearer(const http_request& request) {
    const auto header = request.headers.find("Authorization");
    constexpr std::string_view scheme = "Bearer ";
    if (!header || !header->starts_with(scheme)) return std::nullopt;
    return header->substr(scheme.size());
}

const admin_key* find_key(const std::vector<admin_key>& keys, std::string_view given) {
    if (given.size() > key_characters_max) return nullptr;
    const auto digest = sha256_of({given});
    const admin_key* found = nullptr;
    for (const auto& each : keys)  // All of them, for the same reason.
        if (equal_in_constant_time(each.hash, digest)) found = &each;
    return found;
}

// `http://host:port` against the `Host` that the request was sent to.
bool comes_from_elsewhere(const http_request& request) {
    const auto origin = request.headers.find("Origin");
    if (!origin) return false;
    const auto host = request.headers.find("Host").value_or("");
    const auto scheme_end = origin->find("://");
    return scheme_end == origin->npos || host.empty() || origin->substr(scheme_end + 3) != host;
}

// A foreign name that leads here is how a web page reaches a listener on loopback.
bool names_this_machine(const http_request& request) {
    auto host = request.headers.find("Host").value_or("");
    if (host == "[::1]" || host.starts_with("[::1]:")) return true;
    host = host.substr(0, host.find(':'));
    const bool is_address = std::ranges::all_of(
        host, [](char each) { return each == '.' || (each >= '0' && each <= '9'); });
    return host == "localhost" || host.empty() || (is_address && host.starts_with("127."));
}

}  // namespace

std::optional<sha256_digest> parse_key_hash(std::string_view text) noexcept {
    sha256_digest hash{};
    if (!text.starts_with(hash_prefix)) return std::nullopt;
    text.remove_prefix(hash_prefix.size());
    if (text.size() != 2 * hash.size()) return std::nullopt;
    for (std::size_t i = 0; i < hash.size(); ++i) {
        const auto high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (!high || !low) return std::nullopt;
        hash[i] = static_cast<std::byte>(*high * 16 + *low);
    }
    return hash;
}

new_admin_key make_admin_key(random_source& random) {
    std::array<std::byte, 32> bytes{};
    random.fill(bytes);
    new_admin_key made{.key = std::string(key_prefix) + to_base64url(bytes), .hash = {}};
    made.hash = std::string(hash_prefix) + to_hex(sha256_of({made.key}));
    return made;
}

admin_access::admin_access(options rules)
    : loopback_(rules.loopback),
      keys_(std::make_shared<const std::vector<admin_key>>(std::move(rules.keys))) {}

admin_access::key_list admin_access::keys() const {
    const std::scoped_lock lock(mutex_);
    return keys_;
}

void admin_access::replace(std::vector<admin_key> keys) {
    auto fresh = std::make_shared<const std::vector<admin_key>>(std::move(keys));
    const std::scoped_lock lock(mutex_);
    keys_ = std::move(fresh);
}

std::expected<admin_caller, admin_refusal> admin_access::admit(const http_request& request,
                                                               admin_role needed) const {
    const auto refuse = [](std::uint16_t status, std::string who, std::string why) {
        return std::unexpected(admin_refusal{status, std::move(who), std::move(why)});
    };
    if (comes_from_elsewhere(request))
        return refuse(403, {}, "requests of pages from another origin are not answered");
    const auto known = keys();
    if (const auto given = bearer(request)) {
        const auto* key = find_key(*known, *given);
        if (key == nullptr)
            return refuse(401, {},
                          known->empty() ? "this key is not known here, where there are none: send "
                                           "no key, or unset POSTHORN_ADMIN_KEY"
                                         : "this key is not known here");
        if (may(key->role, needed)) return admin_caller{key->name, key->role, key->payloads};
        return refuse(403, key->name,
                      fmt::format("this needs a key with the role {}, and yours has {}",
                                  to_string(needed), to_string(key->role)));
    }
    if (needed == admin_role::viewer && loopback_ && known->empty()) {
        if (names_this_machine(request)) return admin_caller{.name = "loopback"};
        return refuse(403, {}, "without a key, call this machine localhost or by its address");
    }
    return refuse(
        401, {},
        fmt::format("send the header `Authorization: Bearer KEY` with a key of the role {}; "
                    "`posthorn keys admin new` makes one",
                    to_string(needed)));
}

}  // namespace posthorn
