#include "support/raw_http.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr timeval patience{.tv_sec = 120, .tv_usec = 0};

void limit_waits(int descriptor) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

std::size_t content_length(std::string_view head) {
    constexpr std::string_view name = "\r\nContent-Length: ";
    const auto found = head.find(name);
    std::size_t length = 0;
    if (found != head.npos)
        std::from_chars(head.data() + found + name.size(), head.data() + head.size(), length);
    return length;
}

}  // namespace

raw_http::raw_http(std::uint16_t port)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    limit_waits(descriptor_);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int reason = errno;
        ::close(descriptor_);
        throw std::system_error(reason, std::generic_category(), "connect");
    }
}

raw_http::raw_http(adopted connection) : descriptor_(connection.descriptor) {
    limit_waits(descriptor_);
}

raw_http::~raw_http() { ::close(descriptor_); }

bool raw_http::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

// Reads what there is; false if the peer has closed.
bool raw_http::fill() {
    std::array<char, 4096> chunk;
    const auto bytes = ::recv(descriptor_, chunk.data(), chunk.size(), 0);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        throw std::runtime_error("the server neither answers nor closes");
    if (bytes <= 0) return false;
    buffer_.append(chunk.data(), static_cast<std::size_t>(bytes));
    return true;
}

raw_response raw_http::receive(bool to_head) {
    auto end = buffer_.find("\r\n\r\n");
    for (; end == std::string::npos; end = buffer_.find("\r\n\r\n"))
        if (!fill()) throw std::runtime_error("closed before a response: '" + buffer_ + "'");
    raw_response response;
    response.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    const auto length = to_head ? 0 : content_length(response.head);
    while (buffer_.size() < length)
        if (!fill()) throw std::runtime_error("closed within a body");
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    if (response.head.size() > 12) response.status = std::atoi(response.head.c_str() + 9);
    return response;
}

std::string raw_http::receive_until(std::string_view text) {
    auto at = buffer_.find(text);
    for (; at == std::string::npos; at = buffer_.find(text))
        if (!fill()) return std::exchange(buffer_, {});
    auto received = buffer_.substr(0, at + text.size());
    buffer_.erase(0, received.size());
    return received;
}

bool raw_http::is_closed_by_peer() { return buffer_.empty() && !fill(); }

raw_listener::raw_listener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    limit_waits(descriptor_);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(descriptor_, SOMAXCONN) != 0 ||
        ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        const int reason = errno;
        ::close(descriptor_);
        throw std::system_error(reason, std::generic_category(), "listen");
    }
    port_ = ntohs(address.sin_port);
}

raw_listener::~raw_listener() { ::close(descriptor_); }

std::unique_ptr<raw_http> raw_listener::accept() {
    const int connection = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) throw std::runtime_error("nobody connects");
    return std::unique_ptr<raw_http>(new raw_http(raw_http::adopted{connection}));
}

bool raw_listener::has_caller() const {
    pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, 0) == 1;
}

raw_response ask(std::uint16_t port, std::string_view request) {
    raw_http connection(port);
    connection.send(request);
    return connection.receive();
}

std::uint16_t port_in(std::string_view line) {
    constexpr std::string_view before = "http://127.0.0.1:";
    const auto found = line.find(before);
    std::uint16_t port = 0;
    if (found != line.npos)
        std::from_chars(line.data() + found + before.size(), line.data() + line.size(), port);
    return port;
}

}  // namespace posthorn::test
