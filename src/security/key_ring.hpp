#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "security/scheme.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// One secret shared with a peer, and when it counts.
struct signing_key {
    std::string id;  // Follows from the secret; not secret itself.
    secret value;
    std::optional<wall_time> signs_from{};      // At once unless given; it verifies before too.
    std::optional<wall_time> verifies_until{};  // For ever unless given.
    bool revoked = false;                       // Neither signs nor verifies.
};

/// 16 hexadecimal digits, as docs/reference/wire.md says.
[[nodiscard]] std::string key_id_of(const secret& value);
[[nodiscard]] signing_key make_key(secret value);

/// The keys shared with one peer: the first in force signs, all that are alive verify. They sign
/// in one scheme only, so that no attacker can choose a weaker one for a peer. Pure.
///
/// Threads: any; it does not change. A change is a new ring.
class key_ring {
public:
    key_ring() = default;
    explicit key_ring(std::vector<signing_key> keys, signature_scheme scheme = signature_scheme::v2)
        : keys_(std::move(keys)), scheme_(scheme) {}

    /// Null if none is in force.
    [[nodiscard]] const signing_key* signer(wall_time now) const;
    /// Null if it is unknown, revoked or past its date.
    [[nodiscard]] const signing_key* find(std::string_view id, wall_time now) const;
    /// All that verify, for schemes that name no key.
    [[nodiscard]] std::vector<const signing_key*> alive(wall_time now) const;
    [[nodiscard]] signature_scheme scheme() const noexcept { return scheme_; }
    [[nodiscard]] const std::vector<signing_key>& keys() const noexcept { return keys_; }

private:
    std::vector<signing_key> keys_;
    signature_scheme scheme_ = signature_scheme::v2;
};

}  // namespace posthorn
