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
constexpr std::chrono::milliseconds replay_patience = std::chrono::seconds(30);

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

void share_port(int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
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

fault_proxy::fault_proxy(socket_address at, socket_address target, judge* judged_by)
    : at_(std::move(at)), target_(std::move(target)), judge_(judged_by) {
    if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) give_up("pipe");
    if (at_.path.empty()) reserve();
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
    for (const int one : {listener_, reserved_, wake_[0], wake_[1]})
        if (one >= 0) ::close(one);
}

// A socket that is bound and does not listen keeps the port from all others.
void fault_proxy::reserve() {
    reserved_ = open_socket(at_);
    share_port(reserved_);
    system_address where(at_);
    if (::bind(reserved_, where.get(), where.size) != 0) give_up("bind");
    ::getsockname(reserved_, reinterpret_cast<sockaddr*>(&where.storage), &where.size);
    at_.port = ntohs(reinterpret_cast<const sockaddr_in&>(where.storage).sin_port);
}

void fault_proxy::listen() {
    const int made = open_socket(at_);
    share_port(made);
    if (!at_.path.empty()) ::unlink(at_.path.c_str());
    const system_address where(at_);
    if (::bind(made, where.get(), where.size) != 0 || ::listen(made, 128) != 0) {
        ::close(made);
        give_up("listen");
    }
    prepare(made);
    listener_ = made;
}

void fault_proxy::wake() {
    const char any = 0;
    (void)!::write(wake_[1], &any, 1);
}

void fault_proxy::aim(socket_address target) {
    const std::scoped_lock lock(mutex_);
    target_ = std::move(target);
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
    if (!send(again, replay_patience)) throw std::runtime_error("nobody to replay to");
}

std::optional<std::string> fault_proxy::send(std::string_view bytes,
                                             std::chrono::milliseconds patience) {
    socket_address target;
    {
        const std::scoped_lock lock(mutex_);
        target = target_;
    }
    const int socket = connect_to(target);
    if (socket < 0) return std::nullopt;
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) break;  // The server may have had enough before.
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    ::shutdown(socket, SHUT_WR);
    std::string said;
    std::array<char, 4096> piece;
    pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
    while (::poll(&watched, 1, static_cast<int>(patience.count())) == 1) {
        const auto got = ::recv(socket, piece.data(), piece.size(), 0);
        if (got <= 0) break;
        said.append(piece.data(), static_cast<std::size_t>(got));
    }
    ::close(socket);
    return said;
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
            if (!each.broken) return false;
            latest_sent_ = std::move(each.sent);
            if (judge_ != nullptr) judge_->gone(each.number);
            return true;
        });
    }
}

void fault_proxy::wait() {
    std::vector<pollfd> watched{{.fd = wake_[0], .events = POLLIN, .revents = 0}};
    bool dribbles = false;
    int wait_ms = -1;
    {
        const std::scoped_lock lock(mutex_);
        const auto now = steady::now();
        const auto watch = [&](int fd, short events) {
            if (fd >= 0) watched.push_back({.fd = fd, .events = events, .revents = 0});
        };
        watch(listener_, POLLIN);
        for (auto& each : connections_)
            for (const stream* one : {&each.up, &each.down}) {
                if (!one->ended && one->bytes.size() < held_bytes_max) watch(one->from, POLLIN);
                if (one->bytes.empty() || each.held) continue;
                if (one->held_until > now) {
                    const auto left =
                        std::chrono::ceil<std::chrono::milliseconds>(one->held_until - now);
                    const auto left_ms = static_cast<int>(left.count());
                    wait_ms = wait_ms < 0 ? left_ms : std::min(wait_ms, left_ms);
                } else if (piece_ > 0 || one->piece > 0)
                    dribbles = true;
                else
                    watch(one->to, POLLOUT);
            }
    }
    // With bytes to dribble, the time is what it waits for and not room, which is there.
    ::poll(watched.data(), dribbles ? 1 : watched.size(), dribbles ? 1 : wait_ms);
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
        connections_.push_back({.number = count_,
                                .up = {.from = client, .to = server, .way = direction::to_server},
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
        take(each, one, std::string(piece.data(), static_cast<std::size_t>(got)));
    }
    if (!each.held && one.held_until <= steady::now()) pass_on(each, one);
}

void fault_proxy::take(connection& each, stream& one, std::string bytes) {
    if (bytes.empty()) return;
    if (one.way == direction::to_server && judge_ == nullptr) each.sent += bytes;
    if (one.muted) return;
    if (judge_ == nullptr) {
        one.bytes += bytes;
        return;
    }
    const auto found = judge_->come(each.number, one.way, bytes);
    one.bytes += bytes;
    if (found.hold.count() > 0) one.held_until = steady::now() + found.hold;
    if (found.dribble > 0) one.piece = found.dribble;
    one.what = found.what;
    one.muted = found.what != then::go_on;
}

void fault_proxy::pass_on(connection& each, stream& one) {
    while (!one.bytes.empty()) {
        auto size = one.bytes.size();
        for (const auto piece : {piece_, one.piece})
            if (piece > 0) size = std::min(size, piece);
        if (cut_ && cut_->way == one.way) {
            if (each.until_cut == 0) return break_off(each, cut_->how);
            size = std::min(size, each.until_cut);
        }
        const auto sent = ::send(one.to, one.bytes.data(), size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return;
        if (sent < 0) return break_off(each, ending::reset);
        one.bytes.erase(0, static_cast<std::size_t>(sent));
        if (cut_ && cut_->way == one.way) each.until_cut -= static_cast<std::size_t>(sent);
        if (piece_ > 0 || one.piece > 0) break;
    }
    if (one.bytes.empty()) settle(each, one);
}

// All that there was has gone on.
void fault_proxy::settle(connection& each, stream& one) {
    one.piece = 0;
    switch (std::exchange(one.what, then::go_on)) {
        case then::reset: return break_off(each, ending::reset);
        case then::end: return break_off(each, ending::end);
        case then::end_this_way: ::shutdown(one.to, SHUT_WR); break;
        case then::go_on: break;
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
