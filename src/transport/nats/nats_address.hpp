#pragma once

#include "transport/broker/broker_consumer.hpp"
#include "transport/broker/broker_url.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

inline constexpr broker_scheme nats_scheme{
    .plain = "nats", .tls = "natss", .plain_port = 4222, .tls_port = 4222};

// What is known of these URLs with libnats and without it: all but how to connect.
[[nodiscard]] transport_kind nats_words();
[[nodiscard]] broker_kind nats_broker_words();

}  // namespace posthorn
