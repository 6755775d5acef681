#pragma once

#include <string>
#include <string_view>

#include "transport/broker/broker_consumer.hpp"
#include "transport/broker/broker_url.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `kafka://USER@HOST:PORT,HOST:PORT/TOPIC`: several brokers of one cluster to begin with.
struct kafka_url {
    bool tls = false;
    std::string user{};     // Empty where the URL names none.
    std::string brokers{};  // `host:port`, with commas between them.
    std::string topic{};    // A pattern, as `fill_address` reads it.

    bool operator==(const kafka_url&) const = default;
};

/// As `parse_broker_url`.
[[nodiscard]] result<kafka_url> parse_kafka_url(std::string_view text);
/// Letters, digits, `.`, `_` and `-`, at most 249 of them. Pure.
[[nodiscard]] bool is_kafka_topic(std::string_view text);

// What is known of these URLs with librdkafka and without it: all but how to connect.
[[nodiscard]] transport_kind kafka_words();

}  // namespace posthorn
