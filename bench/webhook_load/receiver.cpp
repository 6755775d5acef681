#include "webhook_load/receiver.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/pace.hpp"
#include "measure/payload.hpp"

namespace posthorn::bench {
namespace {

int check(long code, const char* what) {
    if (code < 0) throw std::system_error(errno, std::generic_category(), what);
    return static_cast<int>(code);
}

struct door {
    int listener = -1;
    std::uint16_t port = 0;
};

door listen_anywhere(int backlog) {
    const int listener = check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof at;
    check(::bind(listener, reinterpret_cast<sockaddr*>(&at), size), "bind");
    check(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
    check(::listen(listener, backlog), "listen");
    return {.listener = listener, .port = ntohs(at.sin_port)};
}

/// The length of a body, as a head in lower or upper case says it.
std::size_t length_in(std::string_view head) {
    for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
        const auto at = head.find(name);
        if (at == head.npos) continue;
        std::size_t length = 0;
        const auto text = head.substr(at + name.size());
        std::from_chars(text.begin(), text.end(), length);
        return length;
    }
    return 0;
}

}  // namespace

struct receiver::memory {
    std::atomic<std::uint64_t> count;
    std::array<std::atomic<std::int64_t>, events_max> last;
};

class receiver::server {
public:
    server(int listener, memory& shared)
        : shared_(shared), listener_(listener), events_(::epoll_create1(EPOLL_CLOEXEC)) {
        watch(listener);
    }

    [[noreturn]] void run() {
        std::array<epoll_event, 256> ready{};
        for (;;) {
            const int count = ::epoll_wait(events_, ready.data(), ready.size(), -1);
            for (int i = 0; i < count; ++i) {
                const int file = ready[static_cast<std::size_t>(i)].data.fd;
                file == listener_ ? accept() : serve(file);
            }
        }
    }

private:
    void watch(int file) {
        epoll_event on{.events = EPOLLIN, .data = {.fd = file}};
        ::epoll_ctl(events_, EPOLL_CTL_ADD, file, &on);
    }
    void accept() {
        const int file = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (file < 0) return;
        const int on = 1;
        ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(file);
    }
    void serve(int file) {
        auto& stream = streams_[file];
        std::array<char, 16'384> bytes{};
        const auto got = ::recv(file, bytes.data(), bytes.size(), 0);
        if (got <= 0) {
            ::close(file);
            streams_.erase(file);
            return;
        }
        stream.append(bytes.data(), static_cast<std::size_t>(got));
        for (auto end = stream.find("\r\n\r\n"); end != stream.npos;
             end = stream.find("\r\n\r\n")) {
            const std::string_view head = std::string_view(stream).substr(0, end);
            const auto whole = end + 4 + length_in(head);
            if (stream.size() < whole) return;
            note(file, head, std::string_view(stream).substr(end + 4, whole - end - 4));
            stream.erase(0, whole);
        }
    }
    void note(int file, std::string_view head, std::string_view body) {
        constexpr std::string_view answer = "HTTP/1.1 204 No Content\r\n\r\n";
        constexpr std::string_view data = "\"data\":";
        if (head.starts_with("POST /never")) return;
        if (const auto at = body.find(data); at != body.npos) body.remove_prefix(at + data.size());
        const auto index = measure::index_of(body);
        if (index < events_max) shared_.last[index] = measure::now_ns();
        ++shared_.count;
        ::send(file, answer.data(), answer.size(), MSG_NOSIGNAL);
    }

    memory& shared_;
    int listener_;
    int events_;
    std::unordered_map<int, std::string> streams_;
};

receiver::receiver() {
    void* const place =
        ::mmap(nullptr, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    shared_ = static_cast<memory*>(place);  // Zeros are its beginning.
    const auto [listener, port] = listen_anywhere(4096);
    port_ = port;
    child_ = check(::fork(), "fork");
    if (child_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        server(listener, *shared_).run();
    }
    ::close(listener);
}

receiver::~receiver() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(shared_, sizeof(memory));
}

full_door::full_door() {
    const auto made = listen_anywhere(0);
    listener_ = made.listener;
    port_ = made.port;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 4; ++i) {  // More than it takes.
        callers_.push_back(
            check(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
        ::connect(callers_.back(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
}

full_door::~full_door() {
    for (const int each : callers_) ::close(each);
    ::close(listener_);
}

std::uint64_t receiver::count() const noexcept { return shared_->count; }

std::int64_t receiver::last_ns(std::uint64_t event) const noexcept {
    return event < events_max ? shared_->last[event].load() : 0;
}

}  // namespace posthorn::bench
