#include "transport/link/link_socket.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace posthorn {
namespace {

using std::chrono::milliseconds;

std::string last_reason() { return std::generic_category().message(errno); }

struct address_deleter {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using address_list = std::unique_ptr<addrinfo, address_deleter>;

result<address_list> look_up(const host_port& place, int flags) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = flags;
    addrinfo* found = nullptr;
    const int code =
        ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &wanted, &found);
    if (code == 0) return address_list(found);
    return fail(error_code::unreachable, "{} is not an address: {}", to_string(place),
                ::gai_strerror(code));
}

/// Whether it may be tried again: false at the end of the patience, or of the connection.
bool wait_for(int descriptor, short what, milliseconds patience) {
    pollfd one{.fd = descriptor, .events = what, .revents = 0};
    int ready = 0;
    do {
        ready = ::poll(&one, 1, static_cast<int>(patience.count()));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/// How often less than all of it may go: a peer that gives a byte at a time is not waited for.
std::size_t tries_for(std::size_t bytes) {
    constexpr std::size_t tries_min = 64;
    constexpr std::size_t bytes_a_try = 256;
    return tries_min + (bytes / bytes_a_try);
}

void answer_at_once(int descriptor) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

link_socket::link_socket(int descriptor) : descriptor_(descriptor) { answer_at_once(descriptor); }

link_socket::~link_socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

link_socket::link_socket(link_socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

link_socket& link_socket::operator=(link_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

result<link_socket> link_socket::connect(const host_port& to, milliseconds patience) {
    POSTHORN_LET(addresses, look_up(to, 0));
    std::string why = "it has no address";
    for (const auto* each = addresses.get(); each != nullptr; each = each->ai_next) {
        const int made = ::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (made < 0) return fail(error_code::unreachable, "no socket: {}", last_reason());
        link_socket opened(made);
        int failure = ::connect(made, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
        if (failure == EINPROGRESS) {
            socklen_t size = sizeof failure;
            failure = ETIMEDOUT;
            if (wait_for(made, POLLOUT, patience))
                ::getsockopt(made, SOL_SOCKET, SO_ERROR, &failure, &size);
        }
        if (failure == 0) return opened;
        why = std::generic_category().message(failure);
    }
    return fail(error_code::unreachable, "{} does not answer: {}", to_string(to), why);
}

result<> link_socket::write(std::span<const std::byte> bytes, milliseconds patience) {
    for (auto tries = tries_for(bytes.size()); !bytes.empty() && tries > 0; --tries) {
        const auto put = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(put));
            continue;
        }
        if (put < 0 && errno == EINTR) continue;
        if (put == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) break;
        if (!wait_for(descriptor_, POLLOUT, patience)) break;
    }
    if (bytes.empty()) return {};
    return fail(error_code::unreachable, "the other end takes nothing more");
}

result<> link_socket::read(std::span<std::byte> into, milliseconds patience) {
    for (auto tries = tries_for(into.size()); !into.empty() && tries > 0; --tries) {
        const auto got = ::recv(descriptor_, into.data(), into.size(), 0);
        if (got > 0) {
            into = into.subspan(static_cast<std::size_t>(got));
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) break;
        if (!wait_for(descriptor_, POLLIN, patience)) break;
    }
    if (into.empty()) return {};
    return fail(error_code::unreachable, "the other end gives nothing more");
}

void link_socket::cut_off() const noexcept { ::shutdown(descriptor_, SHUT_RDWR); }

result<link_listener> link_listener::listen(const host_port& at) {
    auto addresses = look_up(at, AI_PASSIVE);
    if (!addresses) return fail(error_code::address_unavailable, "{}", addresses.error().what());
    const auto& first = **addresses;
    link_listener made(::socket(first.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    constexpr int waiting_max = 8;
    ::setsockopt(made.descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(made.descriptor_, first.ai_addr, first.ai_addrlen) == 0 &&
        ::listen(made.descriptor_, waiting_max) == 0)
        return made;
    return fail(error_code::address_unavailable, "cannot listen on {}: {}", to_string(at),
                last_reason());
}

link_listener::~link_listener() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

link_listener::link_listener(link_listener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::uint16_t link_listener::port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                     : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

result<std::optional<link_socket>> link_listener::accept(milliseconds patience) {
    if (!wait_for(descriptor_, POLLIN, patience)) return std::nullopt;
    const int came = ::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (came >= 0) return link_socket(came);
    if (errno == EINVAL || errno == EBADF) return fail(error_code::closed, "it listens no more");
    return std::nullopt;  // It went away again.
}

void link_listener::cut_off() const noexcept { ::shutdown(descriptor_, SHUT_RDWR); }

}  // namespace posthorn
