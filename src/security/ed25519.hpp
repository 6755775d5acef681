#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "base/result.hpp"
#include "security/secret.hpp"

namespace posthorn {

using ed25519_signature = std::array<std::byte, 64>;
using ed25519_public = std::array<std::byte, 32>;

/// A key pair of Ed25519: who has the public half can check what the private one signed, and sign
/// nothing.
///
/// Threads: any, unless it is being assigned to.
class ed25519_pair {
public:
    [[nodiscard]] static ed25519_pair make(random_source& random);
    /// From `whsk_` and base64: the seed of 32 bytes, or it and the public key of 32 bytes after it,
    /// as Svix writes it. Fails with `secret_unavailable`, quoting nothing.
    [[nodiscard]] static result<ed25519_pair> parse(std::string_view text);

    [[nodiscard]] ed25519_signature sign(std::string_view text) const;
    [[nodiscard]] const ed25519_public& public_key() const noexcept { return public_; }
    /// `whpk_` and base64: what receivers are given.
    [[nodiscard]] std::string public_text() const;
    /// As `parse` reads it, with the public key; for keeping it sealed.
    [[nodiscard]] std::string reveal() const;

private:
    explicit ed25519_pair(secret seed);

    secret seed_;
    ed25519_public public_{};
};

}  // namespace posthorn
