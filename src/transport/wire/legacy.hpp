#pragma once

#include "message/wire/claim.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

// Talking to peers that sign in one of the older ways, one message at a time. Pure.

/// The message as a request that the peer verifies; `error_code::secret_unavailable` if no key is
/// in force. Throws as `append_envelope` does.
[[nodiscard]] result<wire_request> write_legacy(const message& what, const key_ring& keys,
                                                wall_time now);
/// How its answer is taken: at its word, since such a peer signs none.
[[nodiscard]] delivery read_legacy(const wire_reply& reply, signature_scheme scheme);

/// `error_code::bad_signature` unless the request is signed as the service does that it claims to
/// be from. `keys` are those of that service; null if there are none.
[[nodiscard]] result<> check_legacy(const wire_request& request, const envelope_claim& claim,
                                    const key_ring* keys, wall_time now);
/// Shortens the time for which a message is taken in to one that the inbox surely remembers, where
/// the signature does not cover what the message says of it.
void limit_life(message& what, signature_scheme scheme);
/// Takes out of a message what its signature does not cover and it can do without: tenant, order
/// key, whose child it is, and the application's headers, but for the trace.
void drop_unsigned(message& what, signature_scheme scheme);

}  // namespace posthorn
