#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/amqp/amqp_link.hpp"
#include "transport/amqp/amqp_rules.hpp"
#include "transport/broker/publication.hpp"

namespace posthorn {

/// Publishes to an exchange of RabbitMQ: persistent, mandatory, and confirmed one by one.
///
/// It connects when there is something to publish, and again when that fails; what comes while it
/// cannot is answered at once, so that a lane need not wait to learn of it.
class amqp_publisher final : public broker_publisher, private amqp_work {
public:
    amqp_publisher(amqp_link::deps with, std::string exchange);

    void publish(std::shared_ptr<publication> batch) override;

private:
    bool wants_connection() override;
    result<> begin(amqp_connection& on) override;
    result<> attend(amqp_connection& on) override;
    bool may_read() override { return true; }
    void happened(const amqp_event& what) override;
    void lost(const error& why) override;
    void unreached(const error& why) override;
    result<> send(amqp_connection& on, const std::shared_ptr<publication>& batch);
    [[nodiscard]] std::deque<std::shared_ptr<publication>> take_waiting();

    const std::string exchange_;
    std::mutex mutex_;
    std::deque<std::shared_ptr<publication>> waiting_;
    // These belong to the link's thread.
    confirm_ledger ledger_;
    std::string blocked_;    // Why the broker takes nothing now.
    std::size_t alone_ = 0;  // So many go out one at a time.
    amqp_link link_;         // Last: its thread ends before the rest goes.
};

}  // namespace posthorn
