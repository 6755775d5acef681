#include "unit/transport/nats/scripted_nats.hpp"

#include <array>
#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr int patience_ms = 120'000;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void wait_for(int descriptor) {
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, patience_ms) == 0) throw std::runtime_error("the peer says nothing");
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream from(line);
    std::vector<std::string> words;
    for (std::string word; from >> word;) words.push_back(word);
    return words;
}

}  // namespace

scripted_nats::scripted_nats() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0) give_up("socket");
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
        ::listen(listener_, 16) != 0)
        give_up("listen");
    socklen_t size = sizeof here;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size);
    port_ = ntohs(here.sin_port);
}

scripted_nats::~scripted_nats() {
    close();
    ::close(listener_);
}

void scripted_nats::accept(std::size_t payload_max) {
    close();
    wait_for(listener_);
    connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection_ < 0) give_up("accept");
    send(fmt::format(
        "INFO {{\"server_id\":\"TEST\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,"
        "\"max_payload\":{}}}\r\n",
        payload_max));
}

void scripted_nats::close() {
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
    buffer_.clear();
}

scripted_nats::publication scripted_nats::read() {
    for (;;) {
        const auto words = words_of(read_line());
        if (words.empty()) continue;
        if (words[0] == "PING") send("PONG\r\n");
        if (words[0] == "SUB") subscription_ = words.back();
        const bool with_headers = words[0] == "HPUB";
        if (!with_headers && words[0] != "PUB") continue;
        // The reply stands between the subject and the lengths, if there is one.
        const std::size_t lengths = with_headers ? 2 : 1;
        publication one{.subject = words.at(1)};
        if (words.size() == 3 + lengths) one.reply = words[2];
        const auto header_bytes = with_headers ? std::stoul(words.at(words.size() - 2)) : 0UL;
        one.headers = take(header_bytes);
        one.body = take(std::stoul(words.back()) - header_bytes);
        take(2);
        return one;
    }
}

void scripted_nats::answer(std::string_view subject, std::string_view body) {
    send(fmt::format("MSG {} {} {}\r\n{}\r\n", subject, subscription_, body.size(), body));
}

void scripted_nats::answer_no_responders(std::string_view subject) {
    constexpr std::string_view headers = "NATS/1.0 503\r\n\r\n";
    send(fmt::format("HMSG {} {} {} {}\r\n{}\r\n", subject, subscription_, headers.size(),
                     headers.size(), headers));
}

std::string scripted_nats::read_line() {
    constexpr std::string_view end = "\r\n";
    std::size_t at = 0;
    while ((at = buffer_.find(end)) == std::string::npos) fill();
    auto line = buffer_.substr(0, at);
    buffer_.erase(0, at + end.size());
    return line;
}

std::string scripted_nats::take(std::size_t bytes) {
    while (buffer_.size() < bytes) fill();
    auto taken = buffer_.substr(0, bytes);
    buffer_.erase(0, bytes);
    return taken;
}

void scripted_nats::fill() {
    wait_for(connection_);
    std::array<char, 65'536> bytes{};
    const auto count = ::recv(connection_, bytes.data(), bytes.size(), 0);
    if (count <= 0) throw std::runtime_error("the peer closed");
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
}

void scripted_nats::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return;  // It closed; a test sees that by other signs.
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace posthorn::test
