#pragma once

#include <functional>

#include "base/result.hpp"
#include "security/key_ring.hpp"
#include "transport/link/link_tls.hpp"

namespace posthorn::standby {

/// What one of a pair shows the other. Asked anew for each connection, so that keys and
/// certificates change without a restart.
struct pair_access {
    std::function<result<key_ring>()> keys;
    std::function<result<link_security>()> security;
};

}  // namespace posthorn::standby
