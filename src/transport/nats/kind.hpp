#pragma once

#include "transport/broker/broker_consumer.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `nats://` and `natss://`: JetStream, to publish to,
[[nodiscard]] transport_kind nats_kind();
/// and to consume from.
[[nodiscard]] broker_kind nats_broker();

}  // namespace posthorn
