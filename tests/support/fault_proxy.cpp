#include "support/fault_proxy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr std::size_t held_bytes_max = std::size_t{8} << 20;
constexpr int patience_ms = 30'000;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// An address as the system wants it.
struct system_address {
    explicit system_address(const socket_address& from) {
        if (from.path.empty()) {
            auto& ip = reinterpret_cast<sockaddr_in&>(storage);
            ip.sin_family = AF_INET;
            ip.sin_port = htons(from.port);
            ip.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            size = sizeof(ip);
        } else {
            auto& local = reinterpret_cast<sockaddr_un&>(storage);
            local.sun_family = AF_UNIX;
            if (from.path.size() >= sizeof(local.sun_path))
                throw std::runtime_error("path too long");
            std::ranges::copy(from.path, local.sun_path);
            size = sizeof(local);
        }
    }
    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&storage);
    }

    sockaddr_storage storage{};
    socklen_t size = 0;
};

int open_socket(const socket_address& of) {
    const int family = of.path.empty() ? AF_INET : AF_UNIX;
    const int made = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) give_up("socket");
    return made;
}

void prepare(int socket) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));  // Means nothing to others.
}

// Below zero if nobody is there.
int connect_to(const socket_address& target) {
    const int made = open_socket(target);
    const system_address to(target);
    if (::connect(made, to.get(), to.size) == 0) return made;
    ::close(made);
    return -1;
}

void close_at_once(int socket) {
    const linger none{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    ::close(socket);
}

}  // namespace

fault_proxy::fault_proxy(socket_address at, socket_address target)
    : at_(std::move(at)), target_(std::move(target)) {
    if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) give_up("pipe");
    listen();
    thread_ = std::jthread([this] { run(); });
}

fault_proxy::~fault_proxy() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        wake();
    }
    thread_.join();
    for (auto& each : connections_)
        if (!each.broken) break_off(each, ending::reset);
    for (const int one : {listener_, wake_[0], wake_[1]})
        if (one >= 0) ::close(one);
}

void fault_proxy::listen() {
    const int made = open_socket(at_);
    const int yes = 1;
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (!at_.path.empty()) ::unlink(at_.path.c_str());
    system_address where(at_);
    if (::bind(made, where.get(), where.size) != 0 || ::listen(made, 128) != 0) {
        ::close(made);
        give_up("listen");
    }
    if (at_.path.empty()) {
        ::getsockname(made, reinterpret_cast<sockaddr*>(&where.storage), &where.size);
        at_.port = ntohs(reinterpret_cast<const sockaddr_in&>(where.storage).sin_port);
    }
    prepare(made);
    listener_ = made;
}

void fault_proxy::wake() {
    const char any = 0;
    (void)!::write(wake_[1], &any, 1);
}

void fault_proxy::refuse() {
    const std::scoped_lock lock(mutex_);
    if (listener_ >= 0) ::close(std::exchange(listener_, -1));
    for (auto& each : connections_)
        if (!each.broken) break_off(each, ending::reset);
    wake();
}

void fault_proxy::accept_again() {
    const std::scoped_lock lock(mutex_);
    if (listener_ < 0) listen();
    wake();
}

void fault_proxy::cut(direction way, std::size_t after_bytes, ending how) {
    const std::scoped_lock lock(mutex_);
    cut_ = {way, after_bytes, how};
    for (auto& each : connections_) each.until_cut = after_bytes;
}

void fault_proxy::cut_no_more() {
    const std::scoped_lock lock(mutex_);
    cut_.reset();
}

void fault_proxy::dribble(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    piece_ = bytes;
    wake();
}

void fault_proxy::hold(bool new_ones) {
    const std::scoped_lock lock(mutex_);
    for (auto& each : connections_) each.held = true;
    hold_new_ = new_ones;
}

void fault_proxy::release() {
    const std::scoped_lock lock(mutex_);
    for (auto& each : connections_) each.held = false;
    hold_new_ = false;
    wake();
}

std::size_t fault_proxy::connections() {
    const std::scoped_lock lock(mutex_);
    return count_;
}

void fault_proxy::replay() {
    std::string again;
    {
        const std::scoped_lock lock(mutex_);
        again = connections_.empty() ? latest_sent_ : connections_.back().sent;
    }
    const int socket = connect_to(target_);
    if (socket < 0) throw std::runtime_error("nobody to replay to");
    for (std::string_view left = again; !left.empty();) {
        const auto sent = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0) break;  // The server may have had enough before.
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    ::shutdown(socket, SHUT_WR);
    std::array<char, 4096> ignored;
    pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
    while (::poll(&watched, 1, patience_ms) == 1 &&
           ::recv(socket, ignored.data(), ignored.size(), 0) > 0) {
    }
    ::close(socket);
}

void fault_proxy::run() {
    for (;;) {
        wait();
        const std::scoped_lock lock(mutex_);
        if (stopping_) return;
        if (listener_ >= 0) accept();
        for (auto& each : connections_) {
            if (!each.broken) pump(each, each.up);
            if (!each.broken) pump(each, each.down);
            if (!each.broken && each.up.ended && each.up.bytes.empty() && each.down.ended &&
                each.down.bytes.empty())
                break_off(each, ending::end);
        }
        std::erase_if(connections_, [&](connection& each) {
            if (each.broken) latest_sent_ = std::move(each.sent);
            return each.broken;
        });
    }
}

void fault_proxy::wait() {
    std::vector<pollfd> watched{{.fd = wake_[0], .events = POLLIN, .revents = 0}};
    bool dribbles = false;
    {
        const std::scoped_lock lock(mutex_);
        const auto watch = [&](int fd, short events) {
            if (fd >= 0) watched.push_back({.fd = fd, .events = events, .revents = 0});
        };
        watch(listener_, POLLIN);
        for (auto& each : connections_)
            for (const stream* one : {&each.up, &each.down}) {
                if (!one->ended && one->bytes.size() < held_bytes_max) watch(one->from, POLLIN);
                if (one->bytes.empty() || each.held) continue;
                if (piece_ > 0)
                    dribbles = true;
                else
                    watch(one->to, POLLOUT);
            }
    }
    // With bytes to dribble, the time is what it waits for and not room, which is there.
    ::poll(watched.data(), dribbles ? 1 : watched.size(), dribbles ? 1 : -1);
    std::array<char, 64> ignored;
    (void)!::read(wake_[0], ignored.data(), ignored.size());
}

void fault_proxy::accept() {
    for (;;) {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        ++count_;
        const int server = connect_to(target_);
        if (server < 0) {
            close_at_once(client);
            continue;
        }
        prepare(client);
        prepare(server);
        connections_.push_back({.up = {.from = client, .to = server, .way = direction::to_server},
                                .down = {.from = server, .to = client, .way = direction::to_client},
                                .held = hold_new_,
                                .until_cut = cut_ ? cut_->after_bytes : 0});
    }
}

void fault_proxy::pump(connection& each, stream& one) {
    std::array<char, 65536> piece;
    while (!one.ended && one.bytes.size() < held_bytes_max) {
        const auto got = ::recv(one.from, piece.data(), piece.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (got < 0) return break_off(each, ending::reset);
        one.ended = got == 0;
        one.bytes.append(piece.data(), static_cast<std::size_t>(got));
        if (one.way == direction::to_server)
            each.sent.append(piece.data(), static_cast<std::size_t>(got));
    }
    if (!each.held) pass_on(each, one);
}

void fault_proxy::pass_on(connection& each, stream& one) {
    while (!one.bytes.empty()) {
        auto size = one.bytes.size();
        if (piece_ > 0) size = std::min(size, piece_);
        if (cut_ && cut_->way == one.way) {
            if (each.until_cut == 0) return break_off(each, cut_->how);
            size = std::min(size, each.until_cut);
        }
        const auto sent = ::send(one.to, one.bytes.data(), size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return;
        if (sent < 0) return break_off(each, ending::reset);
        one.bytes.erase(0, static_cast<std::size_t>(sent));
        if (cut_ && cut_->way == one.way) each.until_cut -= static_cast<std::size_t>(sent);
        if (piece_ > 0) return;
    }
    if (one.ended) ::shutdown(one.to, SHUT_WR);
}

void fault_proxy::break_off(connection& each, ending how) {
    each.broken = true;
    for (const int one : {each.up.from, each.up.to})
        if (how == ending::reset)
            close_at_once(one);
        else
            ::close(one);
}

}  // namespace posthorn::test
