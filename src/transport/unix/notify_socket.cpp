#include "transport/unix/notify_socket.hpp"

#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace posthorn {

void notify_socket::tell(std::string_view state) const noexcept {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (address_.empty() || address_.size() >= sizeof(to.sun_path)) return;
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (to.sun_path[0] == '@') to.sun_path[0] = '\0';  // An abstract name begins with a zero.
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    static_cast<void>(::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&to), size));
    ::close(descriptor);
}

}  // namespace posthorn
