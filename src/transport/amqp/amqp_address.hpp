#pragma once

#include "transport/broker/broker_consumer.hpp"
#include "transport/broker/broker_url.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

inline constexpr broker_scheme amqp_scheme{
    .plain = "amqp", .tls = "amqps", .plain_port = 5672, .tls_port = 5671, .has_path = true};

// What is known of these URLs with librabbitmq and without it: all but how to connect.
[[nodiscard]] transport_kind amqp_words();
[[nodiscard]] broker_kind amqp_broker_words();

}  // namespace posthorn
