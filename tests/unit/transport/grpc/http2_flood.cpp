#include "unit/transport/grpc/http2_flood.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <poll.h>

namespace posthorn::test {
namespace {

using boost::asio::ip::tcp;

// Frames of HTTP/2 (RFC 9113, section 6).
constexpr std::uint8_t data = 0;
constexpr std::uint8_t headers = 1;
constexpr std::uint8_t reset = 3;
constexpr std::uint8_t settings = 4;
constexpr std::uint8_t ping = 6;
constexpr std::uint8_t window_update = 8;
constexpr std::uint8_t is_answer = 1;  // Of settings and pings.
constexpr std::uint8_t ends_stream = 1;
constexpr std::uint8_t ends_headers = 4;
constexpr std::size_t data_bytes_max = 16384;
constexpr int silence_ms_max = 30'000;

std::string number(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xffU);
    return text;
}

std::uint32_t number_in(std::string_view text) {
    return std::accumulate(
        text.begin(), text.end(), std::uint32_t{0},
        [](std::uint32_t all, char one) { return all << 8U | static_cast<std::uint8_t>(one); });
}

std::string counted_text(std::string_view text) {
    return static_cast<char>(text.size()) + std::string(text);
}

// POST, http and names from the table of HPACK (RFC 7541, appendix A), the values as they are.
std::string call_headers() {
    return "\x83\x86\x04" + counted_text("/RFReceiver/Receive") + '\x01' +
           counted_text("localhost") + "\x0f\x10" + counted_text("application/grpc") +
           std::string(1, '\0') + counted_text("te") + counted_text("trailers");
}

}  // namespace

http2_flood::http2_flood(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket_, boost::asio::buffer(std::string_view("PRI * HTTP/2.0\r\n\r\n"
                                                                     "SM\r\n\r\n")));
    send(settings, 0, 0, "");
    for (std::uint32_t i = 0; i < calls; ++i) {
        open_[2 * i + 1].window = first_window_;
        send(headers, ends_headers, 2 * i + 1, call_headers());
    }
}

bool http2_flood::go_on() {
    try {
        for (auto& [stream, one] : open_) send_some(stream, one);
    } catch (const boost::system::system_error&) {
        return false;
    }
    const auto heard = receive();
    if (heard) take(*heard);
    return heard.has_value();
}

std::size_t http2_flood::held_bytes() const {
    return std::accumulate(
        open_.begin(), open_.end(), std::size_t{0},
        [](std::size_t all, const auto& each) { return all + each.second.sent; });
}

void http2_flood::send(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                       std::string_view body) {
    const auto head = number(body.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
                      number(stream, 4);
    const std::array parts{boost::asio::buffer(head), boost::asio::buffer(body)};
    boost::asio::write(socket_, parts);
}

// A message of gRPC says first how long it is: here, more than will ever come.
void http2_flood::send_some(std::uint32_t stream, call& one) {
    for (;;) {
        const auto room = std::min(one.window, window_);
        const auto bytes = std::min(
            {room < 0 ? 0 : static_cast<std::size_t>(room), data_bytes_max, call_bytes - one.sent});
        if (bytes < 16) return;
        std::string part(bytes, 'x');
        if (one.sent == 0) part.replace(0, 5, '\0' + number(call_bytes + 1000, 4));
        send(data, 0, stream, part);
        one.sent += bytes;
        one.window -= static_cast<std::int64_t>(bytes);
        window_ -= static_cast<std::int64_t>(bytes);
    }
}

std::optional<http2_flood::frame> http2_flood::receive() {
    std::array<char, 9> head{};
    boost::system::error_code failed;
    pollfd readable{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, silence_ms_max) <= 0) return std::nullopt;
    boost::asio::read(socket_, boost::asio::buffer(head), failed);
    if (failed) return std::nullopt;
    const std::string_view text(head.data(), head.size());
    frame heard{.type = static_cast<std::uint8_t>(text[3]),
                .flags = static_cast<std::uint8_t>(text[4]),
                .stream = number_in(text.substr(5)),
                .body = std::string(number_in(text.substr(0, 3)), '\0')};
    boost::asio::read(socket_, boost::asio::buffer(heard.body), failed);
    if (failed) return std::nullopt;
    return heard;
}

void http2_flood::take(const frame& heard) {
    const bool is_end =
        heard.type == reset || (heard.type == headers && (heard.flags & ends_stream) != 0);
    if (is_end) open_.erase(heard.stream);
    if (heard.type == settings && (heard.flags & is_answer) == 0) take_settings(heard.body);
    if (heard.type == ping && (heard.flags & is_answer) == 0) send(ping, is_answer, 0, heard.body);
    if (heard.type != window_update) return;
    const auto more = number_in(heard.body);
    if (heard.stream == 0)
        window_ += more;
    else if (const auto one = open_.find(heard.stream); one != open_.end())
        one->second.window += more;
}

void http2_flood::take_settings(std::string_view body) {
    constexpr std::uint32_t initial_window = 4;
    for (; body.size() >= 6; body.remove_prefix(6)) {
        if (number_in(body.substr(0, 2)) != initial_window) continue;
        const std::int64_t said = number_in(body.substr(2, 4));
        for (auto& [stream, one] : open_) one.window += said - first_window_;
        first_window_ = said;
    }
    send(settings, is_answer, 0, "");
}

}  // namespace posthorn::test
