#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace posthorn::test {

/// A RabbitMQ that a test plays itself, frame by frame: AMQP 0-9-1 put together without any code of
/// Posthorn's or of librabbitmq.
///
/// Threads: one at a time. Every wait ends after two minutes with a `std::runtime_error`.
class scripted_rabbit {
public:
    struct frame {
        std::uint8_t type = 0;
        std::uint16_t channel = 0;
        std::string payload{};

        /// Class and method, as `60'040`; zero if it is none.
        [[nodiscard]] unsigned method() const;
    };
    struct tuning {
        std::uint32_t frame_max = 131'072;
        std::uint16_t heartbeat = 0;
    };

    static constexpr std::uint8_t method_frame = 1;
    static constexpr std::uint8_t header_frame = 2;
    static constexpr std::uint8_t body_frame = 3;
    static constexpr std::uint8_t beat_frame = 8;

    scripted_rabbit();
    ~scripted_rabbit();
    scripted_rabbit(const scripted_rabbit&) = delete;
    scripted_rabbit& operator=(const scripted_rabbit&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// The next connection, in place of the one before; nothing is said on it yet.
    void accept();
    void read_greeting();
    /// As far as a channel that is open.
    void let_in(tuning with);
    void let_in() { let_in(tuning{}); }
    /// Besides, so that it confirms, or gives messages.
    void let_publish();
    void let_consume();
    void close();

    /// The next frame; heartbeats count only if they are asked for.
    frame read(bool beats_too = false);
    /// The next method, which has to be this one.
    frame read_method(unsigned which);
    /// The body of the next message that is published.
    std::string read_published();
    /// The number of the next message that is acknowledged.
    std::uint64_t read_acknowledged();
    /// Whether it closes; what it sends before is passed over.
    bool is_closed_by_peer();

    void send(std::string_view bytes);
    void send_method(std::uint16_t channel, unsigned which, std::string_view arguments = {});
    void confirm(std::uint64_t number, bool all_before = false);
    void refuse(std::uint64_t number);
    /// As one whose key leads to no queue.
    void give_back(std::string_view id);
    void deliver(std::uint64_t number, std::string_view id, std::string_view body);
    /// One with a header that is so many arrays, each within the one before.
    void deliver_nested(std::uint64_t number, std::size_t depth, std::string_view body);
    /// A delivery and its header, which says how long the body will be that is not sent yet.
    void begin_delivery(std::uint64_t number, std::string_view id, std::uint64_t body_bytes);
    void send_body(std::string_view part);
    void block(bool is_blocked);
    void close_channel(std::uint16_t code, std::string_view why);

private:
    void send_delivery(std::uint64_t number);
    std::string take(std::size_t bytes);
    bool fill();

    int listener_ = -1;
    int connection_ = -1;
    std::uint16_t port_ = 0;
    std::string buffer_;
};

/// The bytes of a frame, as they go over the wire.
[[nodiscard]] std::string amqp_frame(std::uint8_t type, std::uint16_t channel,
                                     std::string_view payload);

}  // namespace posthorn::test
