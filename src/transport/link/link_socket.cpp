#include "transport/link/link_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/time/clock.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

std::string last_reason() { return std::generic_category().message(errno); }

struct address_deleter {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using address_list = std::unique_ptr<addrinfo, address_deleter>;

result<address_list> look_up(const link_place& place, int flags) {
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

/// The system's time, as `poll` has it.
class time_left {
public:
    explicit time_left(milliseconds all) : until_(real_clock().steady() + all) {}
    [[nodiscard]] milliseconds operator()(milliseconds at_most) const {
        const auto left = std::chrono::ceil<milliseconds>(until_ - real_clock().steady());
        return std::clamp(left, milliseconds{0}, at_most);
    }

private:
    steady_time until_;
};

void answer_at_once(int descriptor) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un made{};
    made.sun_family = AF_UNIX;
    std::memcpy(made.sun_path, path.data(), std::min(path.size(), sizeof made.sun_path - 1));
    return made;
}

struct raw_address {
    int family = 0;
    const sockaddr* address = nullptr;
    socklen_t size = 0;
};

/// Zero, or why not.
int reach(int descriptor, const raw_address& to, milliseconds patience) {
    if (::connect(descriptor, to.address, to.size) == 0) return 0;
    if (errno != EINPROGRESS && errno != EAGAIN) return errno;
    int failure = ETIMEDOUT;
    socklen_t size = sizeof failure;
    if (wait_for(descriptor, POLLOUT, patience))
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure;
}

int open_socket(int family) {
    return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

bool may_come_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

link_socket::link_socket(int descriptor) : descriptor_(descriptor) { answer_at_once(descriptor); }

link_socket::~link_socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

link_socket::link_socket(link_socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      tls_(std::exchange(other.tls_, std::nullopt)) {}

link_socket& link_socket::operator=(link_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(tls_, other.tls_);
    return *this;
}

result<link_socket> link_socket::connect(const link_place& to, milliseconds patience) {
    std::string why = "it has no address";
    const auto try_one = [&](const raw_address& at) -> std::optional<link_socket> {
        link_socket opened(open_socket(at.family));
        const int failure =
            opened.descriptor_ < 0 ? errno : reach(opened.descriptor_, at, patience);
        if (failure == 0) return opened;
        why = std::generic_category().message(failure);
        return std::nullopt;
    };
    if (!to.path.empty()) {
        const auto address = address_of(to.path);
        if (auto opened =
                try_one({AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address}))
            return *std::move(opened);
    } else {
        POSTHORN_LET(addresses, look_up(to, 0));
        for (const auto* each = addresses.get(); each != nullptr; each = each->ai_next)
            if (auto opened = try_one({each->ai_family, each->ai_addr, each->ai_addrlen}))
                return *std::move(opened);
    }
    return fail(error_code::unreachable, "{} does not answer: {}", to_string(to), why);
}

result<> link_socket::secure(const link_security& with, milliseconds patience) {
    if (with.is_plain()) return {};
    POSTHORN_LET(made, link_tls::make(with, link_tls::end::client, descriptor_));
    tls_.emplace(std::move(made));
    for (const time_left left(patience);;) {
        const auto step = tls_->shake();
        if (step.what == link_step::kind::done) return {};
        if (step.what == link_step::kind::ended)
            return fail(error_code::bad_signature, "the other end is not trusted: {}",
                        tls_->trouble());
        const short event = step.what == link_step::kind::wait_to_read ? POLLIN : POLLOUT;
        if (!wait_for(descriptor_, event, left(patience))) break;
    }
    return fail(error_code::unreachable,
                "the other end does not agree on TLS; see that both have a certificate or neither");
}

result<> link_socket::expect(const link_security& with) {
    if (with.is_plain()) return {};
    POSTHORN_LET(made, link_tls::make(with, link_tls::end::server, descriptor_));
    tls_.emplace(std::move(made));
    return {};
}

link_step link_socket::shake() {
    return tls_ ? tls_->shake() : link_step{link_step::kind::done, 1};
}

link_step link_socket::read_some(std::span<std::byte> into) {
    if (tls_) return tls_->read(into);
    const auto got = ::recv(descriptor_, into.data(), into.size(), 0);
    if (got > 0) return {link_step::kind::done, static_cast<std::size_t>(got)};
    return {got < 0 && may_come_later() ? link_step::kind::wait_to_read : link_step::kind::ended};
}

link_step link_socket::write_some(std::span<const std::byte> bytes) {
    if (tls_) return tls_->write(bytes);
    const auto put = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) return {link_step::kind::done, static_cast<std::size_t>(put)};
    return {put < 0 && may_come_later() ? link_step::kind::wait_to_write : link_step::kind::ended};
}

namespace {

/// Tries `some` on what is left of the bytes until there is nothing left, or it takes too long.
template <class Bytes, class Some>
bool go_on_with(Bytes bytes, int descriptor, milliseconds patience, const Some& some) {
    const auto parts = 1 + (bytes.size() / link_socket::bytes_in_patience);
    const time_left left(patience * static_cast<milliseconds::rep>(parts));
    while (!bytes.empty()) {
        const link_step step = some(bytes);
        if (step.what == link_step::kind::ended) return false;
        if (step.what == link_step::kind::done) {
            bytes = bytes.subspan(step.bytes);
            continue;
        }
        const short event = step.what == link_step::kind::wait_to_read ? POLLIN : POLLOUT;
        if (!wait_for(descriptor, event, left(patience))) return false;
    }
    return true;
}

}  // namespace

result<> link_socket::write(std::span<const std::byte> bytes, milliseconds patience) {
    if (go_on_with(bytes, descriptor_, patience,
                   [this](std::span<const std::byte> rest) { return write_some(rest); }))
        return {};
    return fail(error_code::unreachable, "the other end takes nothing more");
}

result<> link_socket::read(std::span<std::byte> into, milliseconds patience) {
    if (go_on_with(into, descriptor_, patience,
                   [this](std::span<std::byte> rest) { return read_some(rest); }))
        return {};
    return fail(error_code::unreachable, "the other end gives nothing more");
}

void link_socket::cut_off() const noexcept { ::shutdown(descriptor_, SHUT_RDWR); }

namespace {

/// Removes a socket that an earlier process left; nothing that is in use, and no other file.
void remove_left_socket(const std::string& path) {
    struct stat seen{};
    if (::lstat(path.c_str(), &seen) != 0 || !S_ISSOCK(seen.st_mode)) return;
    const auto address = address_of(path);
    const link_socket probe(open_socket(AF_UNIX));
    const int failure = reach(
        probe.descriptor(), {AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address},
        milliseconds{0});
    if (failure == ECONNREFUSED) ::unlink(path.c_str());
}

bool listen_on(int descriptor, const raw_address& at) {
    const int on = 1;
    constexpr int waiting_max = 64;
    if (at.family != AF_UNIX) ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Before it listens none can connect to it, whatever the rights of the folder.
    return ::bind(descriptor, at.address, at.size) == 0 && ::listen(descriptor, waiting_max) == 0;
}

}  // namespace

result<link_listener> link_listener::listen(const link_place& at) {
    const auto refused = [&] {
        return fail(error_code::address_unavailable, "cannot listen on {}: {}", to_string(at),
                    last_reason());
    };
    if (!at.path.empty()) {
        remove_left_socket(at.path);
        const auto address = address_of(at.path);
        link_listener made(open_socket(AF_UNIX));
        constexpr mode_t for_us_alone = 0600;
        ::fchmod(made.descriptor_, for_us_alone);
        if (!listen_on(made.descriptor_,
                       {AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address}))
            return refused();
        ::chmod(at.path.c_str(), for_us_alone);
        return made;
    }
    auto addresses = look_up(at, AI_PASSIVE);
    if (!addresses) return fail(error_code::address_unavailable, "{}", addresses.error().what());
    const auto& first = **addresses;
    link_listener made(open_socket(first.ai_family));
    if (!listen_on(made.descriptor_, {first.ai_family, first.ai_addr, first.ai_addrlen}))
        return refused();
    return made;
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
    if (address.ss_family == AF_UNIX) return 0;
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
