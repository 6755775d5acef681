#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "admin/access/access.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

/// Who may do what here, and how each peer is known. Never a secret, nor a hash of one.
struct key_report {
    std::vector<admin_key> admin{};
    peer_keys::rings peers{};
    wall_time now{};
};

/// Pure. Of a peer's key its `state`: `signs` (the one that is used), `verifies`, `later` (signs
/// from a time to come), `expired` or `revoked`.
[[nodiscard]] boost::json::object to_json(const key_report& report);

}  // namespace posthorn
