#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
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
/// Lifetime: `open`, and it is closed by the destructor.
/// Threads:  one at a time, but for `cut`.
class amqp_connection {
public:
    /// `error_code::unreachable` or `access_denied`, without a word of the password.
    static result<std::unique_ptr<amqp_connection>> open(const amqp_place& at,
                                                         const std::string& password);
    ~amqp_connection();
    amqp_connection(const amqp_connection&) = delete;
    amqp_connection& operator=(const amqp_connection&) = delete;

    result<> ask_for_confirms();
    /// Fails with what the broker answers, such as that there is no such queue.
    result<> consume(const std::string& queue, std::uint16_t messages_max);
    result<> publish(const std::string& exchange, const broker_message& one);
    result<> acknowledge(std::uint64_t number);
    result<> put_back(std::uint64_t number);
    /// What has come, if anything has; does not wait for it.
    result<amqp_event> next();

    /// To be polled for what can be read.
    [[nodiscard]] int descriptor() const;
    /// From any thread: whatever waits for the broker fails soon.
    void cut();

private:
    explicit amqp_connection(amqp_connection_state_t_* raw) : raw_(raw) {}
    result<> connect(const amqp_place& at);
    result<> log_in(const amqp_place& at, const std::string& password);
    result<> trust(void* socket, const amqp_place& at);
    result<amqp_event> read_content(amqp_event begun);

    amqp_connection_state_t_* raw_;
    std::atomic<int> descriptor_ = -1;
};

}  // namespace posthorn
