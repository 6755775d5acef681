#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "base/result.hpp"
#include "security/ed25519.hpp"
#include "security/secret.hpp"

namespace posthorn {

// How a webhook proves where it comes from: the headers of Standard Webhooks, and those of the
// outbox's own style. Without clock or I/O.

inline constexpr std::size_t webhook_secret_bytes_min = 24;
inline constexpr std::size_t webhook_secret_bytes_max = 64;
inline constexpr std::size_t outbox_secret_bytes_max = 512;

/// A secret that a subscriber shares, of `whsec_` and base64. Fails with `secret_unavailable`,
/// quoting nothing.
[[nodiscard]] result<secret> parse_webhook_secret(std::string_view text);
/// A new one, of 32 bytes.
[[nodiscard]] secret make_webhook_secret(random_source& random);
/// As a subscriber is shown it, once.
[[nodiscard]] std::string reveal_webhook_secret(const secret& shared);

/// A secret of the outbox's style: its text is the key, whatever it says; 16 to 512 bytes.
[[nodiscard]] result<secret> parse_outbox_secret(std::string_view text);

/// What is signed with the body. The id has no dot, since dots part what is signed.
struct webhook_head {
    std::string_view id;
    std::int64_t timestamp = 0;  // Of the attempt, in seconds since 1970.
};

/// The value of `webhook-signature`: `v1` with each live secret, so that a receiver verifies with
/// the old one and the new one while it changes, and `v1a` with the key pair if there is one.
/// There is at least one of them.
[[nodiscard]] std::string sign_webhook(const webhook_head& head, std::string_view body,
                                       std::span<const secret> live,
                                       const ed25519_pair* pair = nullptr);

enum class hex_case : std::uint8_t { lower, upper };

/// The value of `X-Outbox-Signature`: `sha256=` and the HMAC of the body alone.
[[nodiscard]] std::string sign_outbox(std::string_view body, const secret& shared,
                                      hex_case written = hex_case::lower);

}  // namespace posthorn
