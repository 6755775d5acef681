#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace posthorn::test {

/// A NATS server that a test plays itself: its protocol of text put together without any code of
/// Posthorn's or of libnats.
///
/// Threads: one at a time. Every wait ends after two minutes with a `std::runtime_error`.
class scripted_nats {
public:
    struct publication {
        std::string subject{};
        std::string reply{};
        std::string headers{};
        std::string body{};
    };

    scripted_nats();
    ~scripted_nats();
    scripted_nats(const scripted_nats&) = delete;
    scripted_nats& operator=(const scripted_nats&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// The next connection, in place of the one before. What it is told of the server depends on
    /// the greatest message that it takes.
    void accept(std::size_t payload_max = 1'048'576);
    void close();
    /// The next message that is published; whatever else comes is answered as a server does.
    publication read();
    /// To the subscription that the connection made last.
    void answer(std::string_view subject, std::string_view body);
    /// Nothing listens there.
    void answer_no_responders(std::string_view subject);

private:
    std::string read_line();
    std::string take(std::size_t bytes);
    void fill();
    void send(std::string_view bytes);

    int listener_ = -1;
    int connection_ = -1;
    std::uint16_t port_ = 0;
    std::string buffer_;
    std::string subscription_;  // The number that the client has given it.
};

}  // namespace posthorn::test
