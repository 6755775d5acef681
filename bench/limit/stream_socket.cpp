#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "limit/wire.hpp"

namespace posthorn::bench {
namespace {

int check(int code, const char* what) {
    if (code < 0) throw std::system_error(errno, std::generic_category(), what);
    return code;
}

int open_socket(framing as) {
    const int domain = as == framing::http ? AF_INET : AF_UNIX;
    const int file = check(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    const int size = 1 << 20;
    ::setsockopt(file, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return file;
}

void send_at_once(int file) {
    const int on = 1;
    ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (path.size() >= sizeof to.sun_path)
        throw std::invalid_argument("too long for a socket, choose another --folder: " + path);
    std::copy_n(path.data(), path.size(), &to.sun_path[0]);
    return to;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return to;
}

template <class Address>
const sockaddr* plain(const Address& of) {
    return reinterpret_cast<const sockaddr*>(&of);
}

}  // namespace

stream_socket::~stream_socket() {
    if (file_ >= 0) ::close(file_);
}

stream_socket::stream_socket(stream_socket&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

void stream_socket::write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
        const auto sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        check(static_cast<int>(sent), "send");
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool stream_socket::read_some(std::string& into) const {
    constexpr std::size_t step = std::size_t{1} << 18U;
    const auto size = into.size();
    into.resize_and_overwrite(size + step, [&](char* bytes, std::size_t) {
        const auto got = ::recv(file_, bytes + size, step, 0);
        return size + static_cast<std::size_t>(std::max<ssize_t>(0, got));
    });
    return into.size() > size;
}

void stream_socket::shut() const { ::shutdown(file_, SHUT_RDWR); }

listener::listener(framing as, const std::string& path) : file_(open_socket(as)), as_(as) {
    if (as == framing::unix_socket) {
        const auto at = unix_address(path);
        check(::bind(file_, plain(at), sizeof at), "bind");
        address_ = path;
    } else {
        auto at = loopback(0);
        check(::bind(file_, plain(at), sizeof at), "bind");
        socklen_t size = sizeof at;
        check(::getsockname(file_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
        address_ = std::to_string(ntohs(at.sin_port));
    }
    check(::listen(file_, 8), "listen");
}

listener::~listener() { ::close(file_); }

stream_socket listener::accept() const {
    const int file = check(::accept4(file_, nullptr, nullptr, SOCK_CLOEXEC), "accept");
    if (as_ == framing::http) send_at_once(file);
    return stream_socket(file);
}

stream_socket connect_to(framing as, const std::string& address) {
    const int file = open_socket(as);
    stream_socket made(file);
    if (as == framing::unix_socket) {
        const auto to = unix_address(address);
        check(::connect(file, plain(to), sizeof to), "connect");
    } else {
        const auto to = loopback(static_cast<std::uint16_t>(std::stoi(address)));
        check(::connect(file, plain(to), sizeof to), "connect");
        send_at_once(file);
    }
    return made;
}

}  // namespace posthorn::bench
