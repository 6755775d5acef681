#include "support/raw_unix.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr int patience_ms = 120'000;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error("path too long");
    std::ranges::copy(path, address.sun_path);
    return address;
}

void wait_for(int descriptor, short event) {
    pollfd watched{.fd = descriptor, .events = event, .revents = 0};
    if (::poll(&watched, 1, patience_ms) == 0) throw std::runtime_error("the peer says nothing");
}

std::size_t size_at(std::string_view bytes, std::size_t at) {
    std::size_t size = 0;
    for (const char each : bytes.substr(at, 4))
        size = size * 256 + static_cast<unsigned char>(each);
    return size;
}

std::string four_bytes(std::size_t size) {
    return {static_cast<char>(size / 0x1000000), static_cast<char>(size / 0x10000),
            static_cast<char>(size / 0x100), static_cast<char>(size)};
}

}  // namespace

std::string frame_bytes(std::string_view head, std::string_view body) {
    return four_bytes(head.size()) + four_bytes(body.size()) + std::string(head) +
           std::string(body);
}

std::array<int, 2> socket_pair() {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        give_up("socketpair");
    return ends;
}

raw_unix::raw_unix(const std::string& path)
    : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = address_of(path);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
        return;
    ::close(std::exchange(descriptor_, -1));
    give_up("connect");
}

raw_unix::~raw_unix() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

raw_unix::raw_unix(raw_unix&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), buffer_(std::move(other.buffer_)) {}

bool raw_unix::send(std::string_view bytes) {
    while (!bytes.empty()) {
        wait_for(descriptor_, POLLOUT);
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::size_t raw_unix::send_some(std::string_view bytes) {
    std::size_t total = 0;
    while (total < bytes.size()) {
        const auto sent = ::send(descriptor_, bytes.data() + total, bytes.size() - total,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) break;
        total += static_cast<std::size_t>(sent);
    }
    return total;
}

bool raw_unix::fill() {
    wait_for(descriptor_, POLLIN);
    std::array<char, 65536> piece;
    const auto got = ::recv(descriptor_, piece.data(), piece.size(), 0);
    if (got <= 0) return false;
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
}

raw_frame raw_unix::receive() {
    const auto need = [&](std::size_t bytes) {
        while (buffer_.size() < bytes)
            if (!fill()) throw std::runtime_error("the peer closed in the middle of a frame");
    };
    need(8);
    const auto head = size_at(buffer_, 0);
    const auto body = size_at(buffer_, 4);
    need(8 + head + body);
    raw_frame whole{buffer_.substr(8, head), buffer_.substr(8 + head, body)};
    buffer_.erase(0, 8 + head + body);
    return whole;
}

bool raw_unix::is_closed_by_peer() { return buffer_.empty() && !fill(); }

void raw_unix::end_sending() { ::shutdown(descriptor_, SHUT_WR); }

raw_unix_listener::raw_unix_listener(const std::string& path)
    : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = address_of(path);
    ::unlink(path.c_str());
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(descriptor_, 16) != 0)
        give_up("listen");
}

raw_unix_listener::~raw_unix_listener() { ::close(descriptor_); }

raw_unix raw_unix_listener::accept() {
    wait_for(descriptor_, POLLIN);
    const int accepted = ::accept(descriptor_, nullptr, nullptr);
    if (accepted < 0) give_up("accept");
    return raw_unix(accepted);
}

}  // namespace posthorn::test
