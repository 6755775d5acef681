#pragma once

#include <array>
#include <cstddef>
#include <optional>
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
    /// The same after another prefix, for a key that is for something else.
    [[nodiscard]] static result<ed25519_pair> parse(std::string_view text, std::string_view prefix);

    [[nodiscard]] ed25519_signature sign(std::string_view text) const;
    [[nodiscard]] const ed25519_public& public_key() const noexcept { return public_; }
    /// `whpk_` and base64: what receivers are given.
    [[nodiscard]] std::string public_text() const;
    /// As `parse` reads it, with the public key; for keeping it sealed.
    [[nodiscard]] std::string reveal() const;
    [[nodiscard]] std::string reveal(std::string_view prefix) const;

private:
    explicit ed25519_pair(secret seed);

    secret seed_;
    ed25519_public public_{};
};

/// Whether the private half of this key signed this text. False for what is no key.
[[nodiscard]] bool verify_ed25519(const ed25519_public& key, std::string_view text,
                                  const ed25519_signature& signature);

/// Of the keys that workflows' binaries are signed with: before base64.
inline constexpr std::string_view publisher_key_prefix = "phpub_";
inline constexpr std::string_view publisher_secret_prefix = "phsec_";

/// A public key as text, and back; empty for what is none.
[[nodiscard]] std::string ed25519_text(const ed25519_public& key, std::string_view prefix);
[[nodiscard]] std::optional<ed25519_public> parse_ed25519_public(std::string_view text,
                                                                 std::string_view prefix);

}  // namespace posthorn
