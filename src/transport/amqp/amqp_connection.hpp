#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "transport/amqp/amqp_rules.hpp"
#include "transport/broker/broker_message.hpp"
#include "transport/broker/broker_url.hpp"
#include "transport/http/tls.hpp"

struct amqp_connection_state_t_;

namespace posthorn {

/// Where RabbitMQ is, and what is shown to it.
struct amqp_place {
    broker_url url{};
    std::string name{};  // Of this connection, for those who look at the broker.
    std::string authority{};
    tls_files own{};
    std::chrono::milliseconds patience = std::chrono::seconds{5};  // With each step of connecting.
    std::chrono::seconds heartbeat{10};  // Two of them without a byte, and the broker is gone.
    /// A body that is longer is read and dropped, so that no message takes more memory than this.
    std::size_t body_bytes_max = std::size_t{16} << 20;
};

/// What the broker has sent.
struct amqp_confirm {
    std::uint64_t number = 0;
    bool all_before = false;
    bool taken = true;
};
struct amqp_delivered {
    std::uint64_t number = 0;
    std::uint32_t deliveries = 1;
    broker_message what{};
    std::uint64_t dropped_bytes = 0;  // Of a body that is too long to be held: it is empty then.
};
struct amqp_blocked {
    bool is_blocked = false;
    std::string why{};
};
struct amqp_closed {
    bool whole_connection = false;
    amqp_close why{};
};
struct amqp_cancelled {};  // Its queue was deleted.
using amqp_event = std::variant<std::monostate, amqp_confirm, amqp_return, amqp_delivered,
                                amqp_blocked, amqp_closed, amqp_cancelled>;

/// A connection to RabbitMQ with one channel. All of it blocks.
///
/// Lifetime: `open` once, before the rest; the destructor closes it.
/// Threads:  one at a time, but for `cut`.
class amqp_connection {
public:
    amqp_connection();
    ~amqp_connection();
    amqp_connection(const amqp_connection&) = delete;
    amqp_connection& operator=(const amqp_connection&) = delete;

    /// `error_code::unreachable` or `access_denied`, without a word of the password.
    result<> open(const amqp_place& at, const std::string& password);
    result<> ask_for_confirms();
    /// Fails with what the broker answers, such as that there is no such queue.
    result<> consume(const std::string& queue, std::uint16_t messages_max);
    /// Whether the message's headers fit into a frame, as they have to.
    [[nodiscard]] bool carries(const broker_message& one) const;
    [[nodiscard]] std::size_t frame_bytes_max() const;
    result<> publish(const std::string& exchange, const broker_message& one);
    result<> acknowledge(std::uint64_t number);
    result<> put_back(std::uint64_t number);
    /// What has come, if anything has; does not wait for it. Sends a heartbeat where one is due, and
    /// fails where the broker has sent none.
    result<amqp_event> next();
    /// In place of `next`, while nothing is to be read.
    result<> beat();

    /// To be polled for what can be read.
    [[nodiscard]] int descriptor() const;
    /// How long at most between two calls of `next` or `beat`; negative: for ever.
    [[nodiscard]] std::chrono::milliseconds look_every() const;
    /// From any thread: whatever waits for the broker fails soon, and what is begun later at once.
    void cut();

private:
    result<> connect(const amqp_place& at);
    result<> log_in(const amqp_place& at, const std::string& password);
    result<> trust(void* socket, const amqp_place& at);
    result<amqp_event> read_content(amqp_event begun);

    amqp_connection_state_t_* raw_;
    std::size_t body_bytes_max_ = 0;
    std::deque<amqp_event> aside_;  // What came while the rest of a message was waited for.
    std::atomic<int> descriptor_ = -1;
    std::atomic<bool> is_cut_ = false;
};

}  // namespace posthorn
