#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace posthorn::test {

/// A stranger who begins many calls over one connection of HTTP/2, sends as much of each as the
/// server lets it, and finishes none.
///
/// Threads: one.
class http2_flood {
public:
    static constexpr std::uint32_t calls = 100;
    static constexpr std::size_t call_bytes = 1'000'000;

    explicit http2_flood(std::uint16_t port);

    /// Sends what it may and hears one thing from the server; false when that has closed the
    /// connection, or says nothing more.
    bool go_on();
    /// Of the calls that the server has not ended.
    [[nodiscard]] std::size_t held_bytes() const;
    [[nodiscard]] std::size_t ended_calls() const noexcept { return calls - open_.size(); }

private:
    struct call {
        std::int64_t window = 0;
        std::size_t sent = 0;
    };
    struct frame {
        std::uint8_t type = 0;
        std::uint8_t flags = 0;
        std::uint32_t stream = 0;
        std::string body;
    };

    void send(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view body);
    void send_some(std::uint32_t stream, call& one);
    std::optional<frame> receive();
    void take(const frame& heard);
    void take_settings(std::string_view body);

    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_{context_};
    std::int64_t window_ = 65535;
    std::int64_t first_window_ = 65535;
    std::map<std::uint32_t, call> open_;
};

}  // namespace posthorn::test
