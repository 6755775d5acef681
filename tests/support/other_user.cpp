#include "support/other_user.hpp"

#include <algorithm>
#include <stdexcept>

#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr int patience_ms = 30'000;

// Runs after a fork of a process with threads, so it does nothing but call the system.
visit talk(uid_t who, const sockaddr_un& address, std::string_view bytes) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(who) != 0 || ::setuid(who) != 0)
        return visit::failed;
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return visit::no_entry;
    // The server may close before it is sent, which is a dismissal too.
    (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, patience_ms) != 1) return visit::failed;
    char first = 0;
    return ::recv(socket, &first, 1, 0) == 1 ? visit::answered : visit::dismissed;
}

}  // namespace

visit visit_as(uid_t who, const std::string& path, std::string_view bytes) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error("path too long");
    std::ranges::copy(path, address.sun_path);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) ::_exit(static_cast<int>(talk(who, address, bytes)));
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? static_cast<visit>(WEXITSTATUS(status)) : visit::failed;
}

}  // namespace posthorn::test
