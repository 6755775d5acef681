#pragma once

#include <sys/types.h>

#include "base/result.hpp"

namespace posthorn {

/// Whether to speak with a process of this user over a Unix socket: our own user's, and root's,
/// who could read our memory anyway. Pure.
[[nodiscard]] constexpr bool is_trusted_user(uid_t peer, uid_t ours) noexcept {
    return peer == ours || peer == 0;
}

/// `error_code::access_denied` unless the process at the other end of the connected socket is of a
/// trusted user. The system vouches for who that is; the peer cannot choose.
[[nodiscard]] result<> check_peer(int socket);

}  // namespace posthorn
