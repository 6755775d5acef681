#include "security/key_ring.hpp"

#include <algorithm>
#include <span>

#include "base/planted.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

constexpr std::size_t id_bytes = 8;

bool is_past(const signing_key& key, wall_time now) {
    if (POSTHORN_PLANTED(retired_key_accepted)) return false;
    return key.verifies_until && now >= *key.verifies_until;
}

// A secret that was entered twice is revoked by either entry.
bool is_revoked(const std::vector<signing_key>& keys, std::string_view id) {
    return std::ranges::any_of(keys,
                               [&](const signing_key& key) { return key.revoked && key.id == id; });
}

}  // namespace

std::string key_id_of(const secret& value) {
    const auto whole = hmac_of(value, "posthorn-key-id");
    return to_hex(std::span<const std::byte>(whole).first(id_bytes));
}

signing_key make_key(secret value) {
    auto id = key_id_of(value);
    return {.id = std::move(id), .value = std::move(value)};
}

const signing_key* key_ring::signer(wall_time now) const {
    for (const auto& key : keys_) {
        const bool has_begun = !key.signs_from || now >= *key.signs_from;
        if (has_begun && !is_past(key, now) && !is_revoked(keys_, key.id)) return &key;
    }
    return nullptr;
}

const signing_key* key_ring::find(std::string_view id, wall_time now) const {
    if (is_revoked(keys_, id)) return nullptr;
    for (const auto& key : keys_)
        if (key.id == id && !is_past(key, now)) return &key;
    return nullptr;
}

std::vector<const signing_key*> key_ring::alive(wall_time now) const {
    std::vector<const signing_key*> all;
    for (const auto& key : keys_)
        if (!key.value.empty() && !is_past(key, now) && !is_revoked(keys_, key.id))
            all.push_back(&key);
    return all;
}

}  // namespace posthorn
