#pragma once

#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/key_ring.hpp"

namespace posthorn {

// The header `X-Workflow-Signature: t=SECONDS,v1=HEX`: HMAC-SHA256 of the seconds, a full stop and
// the body, which is how several payment services sign what they post. It covers neither path nor
// destination, and no answer; docs/reference/wire.md tells what follows. Pure.

/// `error_code::secret_unavailable` if no key is in force.
[[nodiscard]] result<std::string> sign_x_workflow(const key_ring& keys, std::string_view body,
                                                  wall_time now);

/// `error_code::bad_signature`. The header may give several `v1`, of which one must be right, and
/// fields of other names.
[[nodiscard]] result<> verify_x_workflow(const key_ring& keys, std::string_view header,
                                         std::string_view body, wall_time now);

}  // namespace posthorn
