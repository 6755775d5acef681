#pragma once

#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/key_ring.hpp"

namespace posthorn {

// The older signature of one message, which stands in it as its header `rf-hmac`: HMAC-SHA256 of
// message id, source, endpoint and the payload's hash, with nothing between them. It leaves out all
// else that a message says, and when it was sent; docs/reference/wire.md tells what follows. Pure.

/// What it covers, as text of the message on the wire.
struct rf_hmac_content {
    std::string_view message_id;
    std::string_view source;
    std::string_view endpoint;
    std::string_view payload;  // JSON, as it stands in the message.
};

/// In base64; `error_code::secret_unavailable` if no key is in force.
[[nodiscard]] result<std::string> sign_rf_hmac(const key_ring& keys, const rf_hmac_content& what,
                                               wall_time now);

/// `error_code::bad_signature`. The hash of the payload may have been written in any of the usual
/// ways, and taken of the payload without the white space between its tokens: the description of
/// the scheme says neither, and all of them bind the same payload.
[[nodiscard]] result<> verify_rf_hmac(const key_ring& keys, const rf_hmac_content& what,
                                      std::string_view claimed, wall_time now);

}  // namespace posthorn
