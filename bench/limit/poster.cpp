#include "limit/poster.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace posthorn::bench {
namespace {

int check(long code, const char* what) {
    if (code < 0) throw std::system_error(errno, std::generic_category(), what);
    return static_cast<int>(code);
}

int connect_to(std::uint32_t address, std::uint16_t port) {
    const int file = check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    const int on = 1;
    ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(address);
    check(::connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof to), "connect");
    return file;
}

std::string id_of(std::uint64_t event) {
    return fmt::format("01900000-0000-7000-8000-{:012x}", event);
}

}  // namespace

std::uint32_t address_of(std::uint64_t i) noexcept {
    constexpr std::uint32_t first = 0x7f010000;  // 127.1.0.0
    return first + static_cast<std::uint32_t>(i);
}

poster::poster(std::uint16_t port, std::size_t connections, std::string_view key, places to)
    : mac_(key), all_(connections), events_(check(::epoll_create1(EPOLL_CLOEXEC), "epoll")) {
    for (std::size_t i = 0; i < connections; ++i) {
        all_[i].file = connect_to(to == places::one ? INADDR_LOOPBACK : address_of(i), port);
        epoll_event on{.events = EPOLLIN, .data = {.u64 = i}};
        check(::epoll_ctl(events_, EPOLL_CTL_ADD, all_[i].file, &on), "epoll");
        idle_.push_back(i);
    }
}

poster::~poster() {
    for (const auto& each : all_) ::close(each.file);
    ::close(events_);
}

void poster::post(const posting& what) {
    auto& by = all_[what.to.value_or(idle_.back())];
    if (!what.to) idle_.pop_back();
    by.what = what;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    const auto id = id_of(what.event);
    const auto tag = mac_.sign(fmt::format("{}.{}.", id, now), what.body);
    std::array<unsigned char, 48> text{};
    ::EVP_EncodeBlock(text.data(), tag.data(), static_cast<int>(tag.size()));
    request_.clear();
    fmt::format_to(std::back_inserter(request_),
                   "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                   "Content-Length: {}\r\nwebhook-id: {}\r\nwebhook-timestamp: {}\r\n"
                   "webhook-signature: v1,{}\r\n\r\n{}",
                   what.body.size(), id, now, reinterpret_cast<const char*>(text.data()),
                   what.body);
    // It fits into the socket's buffer: one request at a time.
    if (::send(by.file, request_.data(), request_.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request_.size()))
        throw std::runtime_error("a request was not taken whole");
}

void poster::wait(const std::function<void(const posting&)>& answered, int wake_file) {
    constexpr auto waker = ~std::uint64_t{0};
    if (wake_file >= 0 && waker_ < 0) {
        epoll_event on{.events = EPOLLIN, .data = {.u64 = waker}};
        check(::epoll_ctl(events_, EPOLL_CTL_ADD, wake_file, &on), "epoll");
        waker_ = wake_file;
    }
    std::array<epoll_event, 256> ready{};
    const int count = ::epoll_wait(events_, ready.data(), ready.size(), -1);
    if (count < 0 && errno == EINTR) return;
    check(count, "epoll");
    for (int i = 0; i < count; ++i) {
        const auto which = ready[static_cast<std::size_t>(i)].data.u64;
        if (which == waker) {
            std::uint64_t used = 0;
            check(::read(waker_, &used, sizeof used), "read");
            continue;
        }
        auto& by = all_[which];
        std::array<char, 4096> bytes{};
        const auto got = ::recv(by.file, bytes.data(), bytes.size(), 0);
        if (got <= 0) throw std::runtime_error("the server hung up");
        by.answer.append(bytes.data(), static_cast<std::size_t>(got));
        if (!is_whole(by.answer)) continue;
        by.answer.clear();
        if (!by.what.to) idle_.push_back(which);
        answered(by.what);
    }
}

bool poster::is_whole(std::string_view answer) {
    if (!answer.ends_with("\r\n\r\n")) return false;
    if (!answer.starts_with("HTTP/1.1 204")) throw std::runtime_error("the server refused one");
    return true;
}

}  // namespace posthorn::bench
