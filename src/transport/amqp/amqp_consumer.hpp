#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "transport/amqp/amqp_link.hpp"
#include "transport/broker/broker_consumer.hpp"

namespace posthorn {

/// Consumes a queue of RabbitMQ. The prefetch bounds how many messages are out; when they have too
/// many bytes, nothing is read until some are acknowledged. One that is too long by itself is
/// neither taken nor acknowledged.
class amqp_consumer final : public broker_consumer, private amqp_work {
public:
    struct options {
        std::string queue;
        std::size_t messages_max;
        std::size_t bytes_max;
    };

    amqp_consumer(amqp_link::deps with, options of);

    void start(std::function<void()> arrived) override;
    [[nodiscard]] std::vector<received_message> take() override;
    void acknowledge(std::uint64_t tag) override { end(tag, true); }
    void put_back(std::uint64_t tag) override { end(tag, false); }
    void extend(std::uint64_t /*tag*/) override {}
    [[nodiscard]] std::chrono::milliseconds lease() const override { return {}; }
    [[nodiscard]] bool holds(std::uint64_t tag) const override;
    [[nodiscard]] consumer_state state() const override;

private:
    struct holding {
        std::uint64_t number = 0;  // The broker's, on this connection.
        std::size_t bytes = 0;
    };
    struct ending {
        std::uint64_t number = 0;
        bool is_done = false;
    };

    bool wants_connection() override { return true; }
    result<> begin(amqp_connection& on) override;
    result<> attend(amqp_connection& on) override;
    bool may_read() override;
    void happened(const amqp_event& what) override;
    void lost(const error& why) override;
    void unreached(const error& why) override { lost(why); }
    void end(std::uint64_t tag, bool is_done);

    const amqp_link::deps with_;
    const options options_;
    std::function<void()> arrived_;
    mutable std::mutex mutex_;
    std::vector<received_message> came_;
    std::map<std::uint64_t, holding> held_;
    std::vector<ending> ended_;
    std::uint64_t last_tag_ = 0;
    std::size_t bytes_ = 0;
    consumer_state state_;
    std::unique_ptr<amqp_link> link_;  // Last: its thread ends before the rest goes.
};

}  // namespace posthorn
