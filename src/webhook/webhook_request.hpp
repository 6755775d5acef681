#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

#include "security/ed25519.hpp"
#include "security/secret.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {

/// What happened, as a service published it.
struct webhook_event {
    uuid id;
    std::string type{};
    std::string payload{};
    std::string content_type = "application/json";
    std::string entity{};
    std::string correlation_id{};
    wall_time at{};
};

/// What signs for a subscription: a shared secret (`v1`), or a key pair (`v1a`), of which the
/// subscriber has the public half.
using webhook_key = std::variant<secret, ed25519_pair>;

/// From `whsec_` or `whsk_` and base64. Fails with `secret_unavailable`, quoting nothing.
[[nodiscard]] result<webhook_key> parse_webhook_key(std::string_view text);

/// A subscription, ready to be written to.
struct webhook_target {
    subscription of;
    std::vector<webhook_key> live{};  // The present one, and the one before while it lives.
    std::vector<secret> texts{};      // The same for `sha256=`, whose key is the text itself.
    http_headers custom{};
    payload_filter filter{};
    std::string trouble{};  // Why it cannot be written to; empty if it can.
};

/// The body that a form asks for. Pure.
[[nodiscard]] std::string body_of(const webhook_event& event, webhook_form form);

/// One attempt, from 1, at a time: URL, headers, signatures and body. Pure.
[[nodiscard]] guarded_request make_webhook_request(const webhook_event& event,
                                                   const webhook_target& to, std::int32_t attempt,
                                                   wall_time now);

}  // namespace posthorn
