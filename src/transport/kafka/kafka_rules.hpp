#pragma once

#include <cstdint>
#include <string_view>

#include "transport/transport.hpp"

namespace posthorn {

/// What librdkafka says of a message, as far as it makes a difference.
enum class kafka_word : std::uint8_t {
    persisted,     // All replicas in sync have it.
    no_topic,      // There is none, or no right to write to it.
    too_large,     // For the broker, or for the client.
    refused,       // Of what it says: against a policy of the topic.
    no_room,       // Too few replicas, a disk that fails, our own queue is full, a quota.
    not_answered,  // Its time is over, or the way is gone. It may have been taken.
};

// | the word       | the message becomes        |
// |----------------|----------------------------|
// | persisted      | delivered                  |
// | no_topic       | undeliverable: unroutable  |
// | too_large      | permanent                  |
// | refused        | permanent                  |
// | no_room        | throttled                  |
// | not_answered   | unanswered                 |
//
// Kafka refuses whole requests, and may mean one message of several: `too_large` and `refused` count
// only of one that went alone. The others of its request then go out one at a time too.

/// Whether another message of the same request may be meant. Pure.
[[nodiscard]] bool may_mean_another(kafka_word word) noexcept;
/// Pure. `said` is how librdkafka puts it.
[[nodiscard]] delivery judge_kafka(kafka_word word, std::string_view said, std::string_view topic);

}  // namespace posthorn
