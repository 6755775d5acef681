#include "support/name_server.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr std::size_t head_bytes = 12;
constexpr std::uint16_t type_a = 1;
constexpr std::uint16_t type_cname = 5;
constexpr std::uint16_t type_aaaa = 28;

sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

bool bind_to(int socket, std::uint16_t port) {
    const auto address = local(port);
    return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string number(std::uint16_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value & 0xff)};
}

std::uint16_t number_at(const std::string& text, std::size_t at) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(text.at(at)) << 8 |
                                      static_cast<unsigned char>(text.at(at + 1)));
}

// As DNS writes names: each label with its length before it.
std::string packed(const std::string& name) {
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const auto dot = std::min(name.find('.', at), name.size());
        text += static_cast<char>(dot - at);
        text += name.substr(at, dot - at);
        at = dot + 1;
    }
    return text + '\0';
}

std::string unpacked(const std::string& message, std::size_t& at) {
    std::string name;
    while (const auto length = static_cast<unsigned char>(message.at(at))) {
        if (!name.empty()) name += '.';
        name += message.substr(at + 1, length);
        at += length + 1U;
    }
    ++at;
    return name;
}

std::string record(const std::string& name, std::uint16_t type, const std::string& data) {
    return packed(name) + number(type) + number(1) + std::string(4, '\0') +
           number(static_cast<std::uint16_t>(data.size())) + data;
}

std::string bytes_of(const boost::asio::ip::address& one) {
    const auto text = [](const auto& bytes) { return std::string(bytes.begin(), bytes.end()); };
    return one.is_v4() ? text(one.to_v4().to_bytes()) : text(one.to_v6().to_bytes());
}

struct question_parts {
    std::string id;
    std::string name;
    std::uint16_t type;
};

std::string message(const question_parts& asked, const name_server::reply& reply, bool cut) {
    std::string records;
    std::uint16_t count = 0;
    if (!reply.alias_of.empty() && !cut) {
        records += record(asked.name, type_cname, packed(reply.alias_of));
        ++count;
    }
    for (const auto& each : reply.addresses) {
        if (cut || (each.is_v4() ? type_a : type_aaaa) != asked.type) continue;
        records += record(reply.alias_of.empty() ? asked.name : reply.alias_of, asked.type,
                          bytes_of(each));
        ++count;
    }
    const auto flags = static_cast<std::uint16_t>(0x8180 | (cut ? 0x0200 : 0) | reply.code);
    return asked.id + number(flags) + number(1) + number(count) + number(0) + number(0) +
           packed(asked.name) + number(asked.type) + number(1) + records;
}

}  // namespace

name_server::name_server(teller tell) : tell_(std::move(tell)) {
    // One port for both protocols: the one that UDP was given may be taken on TCP.
    for (int tries = 0; tries < 100 && port_ == 0; ++tries) {
        udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in bound{};
        socklen_t size = sizeof bound;
        if (bind_to(udp_, 0) &&
            ::getsockname(udp_, reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
            bind_to(tcp_, ntohs(bound.sin_port)) && ::listen(tcp_, 16) == 0) {
            port_ = ntohs(bound.sin_port);
            break;
        }
        ::close(udp_);
        ::close(tcp_);
    }
    if (port_ == 0) throw std::runtime_error("no port for a name server");
    const int room = 1 << 20;
    ::setsockopt(udp_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::jthread([this] { run(); });
}

name_server::~name_server() {
    ::eventfd_write(stop_, 1);
    thread_.join();
    for (const int each : {udp_, tcp_, stop_}) ::close(each);
}

std::string name_server::address() const { return "127.0.0.1:" + std::to_string(port_); }

std::size_t name_server::questions(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = questions_.find(name);
    return found == questions_.end() ? 0 : found->second;
}

void name_server::run() {
    std::vector<connection> connections;
    for (;;) {
        std::vector<pollfd> ready{{stop_, POLLIN, 0}, {udp_, POLLIN, 0}, {tcp_, POLLIN, 0}};
        for (const auto& each : connections) ready.push_back({each.socket, POLLIN, 0});
        if (::poll(ready.data(), ready.size(), -1) < 0) continue;
        if (ready[0].revents != 0) break;
        if (ready[1].revents != 0) answer_datagram();
        for (std::size_t i = connections.size(); i-- > 0;) {
            if (ready[3 + i].revents == 0 || answer_stream(connections[i])) continue;
            ::close(connections[i].socket);
            connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (ready[2].revents != 0)
            connections.push_back({::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC)});
    }
    for (const auto& each : connections) ::close(each.socket);
}

void name_server::answer_datagram() {
    std::array<char, 4096> buffer{};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const auto got = ::recvfrom(udp_, buffer.data(), buffer.size(), 0,
                                reinterpret_cast<sockaddr*>(&from), &size);
    if (got < static_cast<ssize_t>(head_bytes)) return;
    for (const auto& each :
         answers_to(std::string(buffer.data(), static_cast<std::size_t>(got)), true))
        ::sendto(udp_, each.data(), each.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
}

bool name_server::answer_stream(connection& with) {
    std::array<char, 4096> buffer{};
    const auto got = ::read(with.socket, buffer.data(), buffer.size());
    if (got <= 0) return false;
    auto& received = with.received;
    received.append(buffer.data(), static_cast<std::size_t>(got));
    while (received.size() >= 2 && received.size() >= 2U + number_at(received, 0)) {
        const auto length = number_at(received, 0);
        const auto question = received.substr(2, length);
        received.erase(0, 2U + length);
        for (const auto& each : answers_to(question, false)) {
            const auto framed = number(static_cast<std::uint16_t>(each.size())) + each;
            if (::send(with.socket, framed.data(), framed.size(), MSG_NOSIGNAL) < 0) return false;
        }
    }
    return true;
}

std::vector<std::string> name_server::answers_to(const std::string& question, bool datagram) {
    std::size_t at = head_bytes;
    question_parts asked{question.substr(0, 2), unpacked(question, at), 0};
    asked.type = number_at(question, at);
    const auto reply = tell_(asked.name);
    {
        const std::lock_guard lock(mutex_);
        ++questions_[asked.name];
    }
    if (reply.silent) return {};
    std::vector<std::string> all;
    if (reply.lies_first) {
        const std::vector wrong{boost::asio::ip::make_address("6.6.6.6"),
                                boost::asio::ip::make_address("2606::6")};
        auto other = asked;
        other.id[0] = static_cast<char>(other.id[0] ^ 1);
        all.push_back(message(other, {.addresses = wrong}, false));
        other = asked;
        other.name = "other.example";
        all.push_back(message(other, {.addresses = wrong}, false));
        all.push_back("x");
    }
    all.push_back(message(asked, reply, datagram && reply.cut_on_udp));
    return all;
}

}  // namespace posthorn::test
