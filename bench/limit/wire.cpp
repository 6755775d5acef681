#include "limit/wire.hpp"

#include <charconv>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace posthorn::bench {
namespace {

template <class Number>
void put(std::string& to, Number value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Number>
Number take(std::string_view& from) {
    Number value{};
    if (from.size() < sizeof value) throw std::runtime_error("a body ends too early");
    std::memcpy(&value, std::span(from).data(), sizeof value);
    from.remove_prefix(sizeof value);
    return value;
}

std::string_view take_bytes(std::string_view& from, std::size_t size) {
    if (from.size() < size) throw std::runtime_error("a body ends too early");
    const auto taken = from.substr(0, size);
    from.remove_prefix(size);
    return taken;
}

std::string_view text_of(const mac_bytes& signature) {
    return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string to_hex(const mac_bytes& signature) {
    std::string text;
    for (const auto byte : signature) {
        text += hex_digits[byte >> 4U];
        text += hex_digits[byte & 15U];
    }
    return text;
}

mac_bytes from_hex(std::string_view text) {
    mac_bytes made{};
    if (text.size() < 64) throw std::runtime_error("a signature is too short");
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::uint8_t>(hex_digits.find(text[2 * i]) << 4U |
                                            hex_digits.find(text[2 * i + 1]));
    return made;
}

std::string_view header_of(std::string_view head, std::string_view name) {
    const auto at = head.find(name);
    if (at == std::string_view::npos) throw std::runtime_error("a header is missing");
    const auto value = head.substr(at + name.size());
    return value.substr(0, value.find("\r\n"));
}

std::optional<frame> next_http(std::string_view stream) {
    const auto head_size = stream.find("\r\n\r\n");
    if (head_size == std::string_view::npos) return std::nullopt;
    const auto head = stream.substr(0, head_size + 2);
    const auto length = header_of(head, "Content-Length: ");
    std::size_t size = 0;
    std::from_chars(length.data(), length.data() + length.size(), size);
    const auto all = head_size + 4 + size;
    if (stream.size() < all) return std::nullopt;
    return frame{.signature = from_hex(header_of(head, "Signature: ")),
                 .body = stream.substr(head_size + 4, size),
                 .size = all};
}

}  // namespace

void append_frame(std::string& stream, framing as, direction what, const mac_bytes& signature,
                  std::string_view body) {
    if (as == framing::unix_socket) {
        put(stream, static_cast<std::uint32_t>(body.size()));
        stream += text_of(signature);
    } else if (what == direction::request) {
        fmt::format_to(std::back_inserter(stream),
                       "POST /receive-batch HTTP/1.1\r\nHost: billing\r\nContent-Type: "
                       "application/octet-stream\r\nContent-Length: {}\r\nSignature: {}\r\n\r\n",
                       body.size(), to_hex(signature));
    } else {
        fmt::format_to(std::back_inserter(stream),
                       "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                       "Content-Length: {}\r\nSignature: {}\r\n\r\n",
                       body.size(), to_hex(signature));
    }
    stream += body;
}

std::optional<frame> next_frame(std::string_view stream, framing as) {
    if (as == framing::http) return next_http(stream);
    constexpr std::size_t head = sizeof(std::uint32_t) + sizeof(mac_bytes);
    if (stream.size() < head) return std::nullopt;
    auto rest = stream;
    const auto size = take<std::uint32_t>(rest);
    frame found{.signature = take<mac_bytes>(rest), .size = head + size};
    if (rest.size() < size) return std::nullopt;
    found.body = rest.substr(0, size);
    return found;
}

std::string encode(std::span<const stored_message> messages) {
    std::string body;
    body.reserve(16 + messages.size() * 320);
    put(body, static_cast<std::uint32_t>(messages.size()));
    for (const auto& one : messages) {
        put(body, one.id);
        put(body, one.created_ms);
        put(body, one.expires_ms);
        put(body, static_cast<std::uint32_t>(endpoint_name.size()));
        body += endpoint_name;
        put(body, static_cast<std::uint32_t>(one.payload.size()));
        body += one.payload;
    }
    return body;
}

void decode(std::string_view body, std::vector<arrived_message>& into) {
    for (auto left = take<std::uint32_t>(body); left > 0; --left) {
        const auto id = take_bytes(body, sizeof(message_id));
        (void)take<std::int64_t>(body);  // When it was made: for people.
        arrived_message one{.id = {reinterpret_cast<const std::uint8_t*>(id.data()), id.size()},
                            .expires_ms = take<std::int64_t>(body)};
        const auto endpoint = take_bytes(body, take<std::uint32_t>(body));
        if (endpoint != endpoint_name) throw std::runtime_error("no such endpoint");
        one.payload = take_bytes(body, take<std::uint32_t>(body));
        into.push_back(one);
    }
}

}  // namespace posthorn::bench
