#pragma once

#include "transport/broker/broker_consumer.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `amqp://` and `amqps://`: RabbitMQ, to publish to,
[[nodiscard]] transport_kind amqp_kind();
/// and to consume from.
[[nodiscard]] broker_kind amqp_broker();

}  // namespace posthorn
