#include "unit/transport/amqp/scripted_rabbit.hpp"

#include <array>
#include <cerrno>
#include <concepts>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

constexpr int patience_ms = 120'000;
constexpr char frame_end = '\xce';
constexpr unsigned of_class = 1'000;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void wait_for(int descriptor) {
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, patience_ms) == 0) throw std::runtime_error("the peer says nothing");
}

template <std::unsigned_integral Number>
std::string big(Number number) {
    std::string bytes;
    for (int at = static_cast<int>(sizeof(Number)) - 1; at >= 0; --at)
        bytes += static_cast<char>((number >> (at * 8)) & 0xFFU);
    return bytes;
}

template <std::unsigned_integral Number>
Number read_big(std::string_view bytes) {
    Number number = 0;
    for (const char each : bytes.substr(0, sizeof(Number)))
        number = static_cast<Number>(static_cast<std::uint64_t>(number) * 256U +
                                     static_cast<unsigned char>(each));
    return number;
}

std::string short_text(std::string_view text) {
    return static_cast<char>(text.size()) + std::string(text);
}

std::string long_text(std::string_view text) {
    return big(static_cast<std::uint32_t>(text.size())) + std::string(text);
}

/// A content header with the message's id as its only property.
std::string header_of(std::string_view id, std::uint64_t body_bytes) {
    constexpr std::uint16_t has_id = 1U << 7U;
    return big(std::uint16_t{60}) + big(std::uint16_t{0}) + big(body_bytes) + big(has_id) +
           short_text(id);
}

}  // namespace

std::string amqp_frame(std::uint8_t type, std::uint16_t channel, std::string_view payload) {
    return static_cast<char>(type) + big(channel) + long_text(payload) + frame_end;
}

unsigned scripted_rabbit::frame::method() const {
    if (type != method_frame || payload.size() < 4) return 0;
    return read_big<std::uint16_t>(payload) * of_class +
           read_big<std::uint16_t>(std::string_view(payload).substr(2));
}

scripted_rabbit::scripted_rabbit() {
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

scripted_rabbit::~scripted_rabbit() {
    close();
    ::close(listener_);
}

void scripted_rabbit::accept() {
    close();
    wait_for(listener_);
    connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection_ < 0) give_up("accept");
}

void scripted_rabbit::close() {
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
    buffer_.clear();
}

void scripted_rabbit::read_greeting() {
    if (take(8) != std::string("AMQP\0\0\x09\x01", 8))
        throw std::runtime_error("the peer does not speak AMQP 0-9-1");
}

void scripted_rabbit::let_in(tuning with) {
    read_greeting();
    send_method(0, 10'010,
                std::string("\0\x09", 2) + long_text("") + long_text("PLAIN AMQPLAIN") +
                    long_text("en_US"));
    read_method(10'011);
    send_method(0, 10'030, big(std::uint16_t{2047}) + big(with.frame_max) + big(with.heartbeat));
    read_method(10'031);
    read_method(10'040);
    send_method(0, 10'041, short_text(""));
    read_method(20'010);
    send_method(1, 20'011, long_text(""));
}

void scripted_rabbit::let_publish() {
    read_method(85'010);
    send_method(1, 85'011);
}

void scripted_rabbit::let_consume() {
    read_method(60'010);
    send_method(1, 60'011);
    read_method(60'020);
    send_method(1, 60'021, short_text("tag"));
}

bool scripted_rabbit::fill() {
    wait_for(connection_);
    std::array<char, 65'536> bytes{};
    const auto count = ::recv(connection_, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

std::string scripted_rabbit::take(std::size_t bytes) {
    while (buffer_.size() < bytes)
        if (!fill()) throw std::runtime_error("the peer closed");
    auto taken = buffer_.substr(0, bytes);
    buffer_.erase(0, bytes);
    return taken;
}

scripted_rabbit::frame scripted_rabbit::read(bool beats_too) {
    for (;;) {
        const auto head = take(7);
        frame one{.type = static_cast<std::uint8_t>(head[0]),
                  .channel = read_big<std::uint16_t>(std::string_view(head).substr(1))};
        one.payload = take(read_big<std::uint32_t>(std::string_view(head).substr(3)));
        if (take(1)[0] != frame_end) throw std::runtime_error("a frame has no end");
        if (one.type != beat_frame || beats_too) return one;
    }
}

scripted_rabbit::frame scripted_rabbit::read_method(unsigned which) {
    auto one = read();
    if (one.method() != which)
        throw std::runtime_error(fmt::format("{} came where {} was expected", one.method(), which));
    return one;
}

std::string scripted_rabbit::read_published() {
    read_method(60'040);
    const auto header = read();
    const auto size = read_big<std::uint64_t>(std::string_view(header.payload).substr(4));
    std::string body;
    while (body.size() < size) body += read().payload;
    return body;
}

std::uint64_t scripted_rabbit::read_acknowledged() {
    return read_big<std::uint64_t>(std::string_view(read_method(60'080).payload).substr(4));
}

bool scripted_rabbit::is_closed_by_peer() {
    while (fill()) buffer_.clear();
    return true;
}

void scripted_rabbit::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return;  // It closed; a test sees that by other signs.
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

void scripted_rabbit::send_method(std::uint16_t channel, unsigned which,
                                  std::string_view arguments) {
    send(amqp_frame(method_frame, channel,
                    big(static_cast<std::uint16_t>(which / of_class)) +
                        big(static_cast<std::uint16_t>(which % of_class)) +
                        std::string(arguments)));
}

void scripted_rabbit::confirm(std::uint64_t number, bool all_before) {
    send_method(1, 60'080, big(number) + static_cast<char>(all_before ? 1 : 0));
}

void scripted_rabbit::refuse(std::uint64_t number) {
    send_method(1, 60'120, big(number) + std::string(1, '\0'));
}

void scripted_rabbit::give_back(std::string_view id) {
    send_method(1, 60'050,
                big(std::uint16_t{312}) + short_text("NO_ROUTE") + short_text("orders") +
                    short_text("key"));
    send(amqp_frame(header_frame, 1, header_of(id, 0)));
}

void scripted_rabbit::send_delivery(std::uint64_t number) {
    send_method(1, 60'060,
                short_text("tag") + big(number) + std::string(1, '\0') + short_text("orders") +
                    short_text("key"));
}

void scripted_rabbit::deliver_nested(std::uint64_t number, std::size_t depth,
                                     std::string_view body) {
    constexpr std::uint16_t has_headers = 1U << 13U;
    std::string table(1, '\0');  // A name without a letter.
    for (auto inner = depth; inner-- > 0;)
        table += 'A' + big(static_cast<std::uint32_t>(inner * 5));
    send_delivery(number);
    send(amqp_frame(header_frame, 1,
                    big(std::uint16_t{60}) + big(std::uint16_t{0}) +
                        big(static_cast<std::uint64_t>(body.size())) + big(has_headers) +
                        long_text(table)));
    send_body(body);
}

void scripted_rabbit::begin_delivery(std::uint64_t number, std::string_view id,
                                     std::uint64_t body_bytes) {
    send_delivery(number);
    send(amqp_frame(header_frame, 1, header_of(id, body_bytes)));
}

void scripted_rabbit::send_body(std::string_view part) { send(amqp_frame(body_frame, 1, part)); }

void scripted_rabbit::deliver(std::uint64_t number, std::string_view id, std::string_view body) {
    begin_delivery(number, id, body.size());
    send_body(body);
}

void scripted_rabbit::close_channel(std::uint16_t code, std::string_view why) {
    send_method(1, 20'040, big(code) + short_text(why) + std::string(4, '\0'));
}

void scripted_rabbit::block(bool is_blocked) {
    is_blocked ? send_method(0, 10'060, short_text("low on disk")) : send_method(0, 10'061);
}

}  // namespace posthorn::test
