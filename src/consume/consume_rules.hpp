#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "message/validate.hpp"
#include "transport/broker/broker_consumer.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// By what a message is known when it comes again.
enum class consume_id : std::uint8_t {
    message,  // The id that its sender gave it; one without is poison.
    hash,     // What it says: two that say the same are one.
    offset,   // Its place in the broker's log.
};

/// How what a broker gives becomes a message.
struct consume_rules {
    /// Each a text, `header:NAME`, or `address` for the routing key or the subject.
    std::string endpoint = "header:rf-endpoint";
    std::string
        source{};  // Whose it is for the inbox, which tells messages apart by it and the id.
    consume_id id = consume_id::message;
    std::string destination{};  // This service.
    message_limits limits{};
};

/// Pure. The message, or why it can never be one.
//
// | its id                           | it is known by                            |
// |----------------------------------|-------------------------------------------|
// | a UUID                           | that                                      |
// | another text                     | a hash of the text                        |
// | none, and `id` is `message`      | nothing: it is poison                     |
// | any, and `id` is `hash`          | a hash of endpoint, type and body         |
// | any, and `id` is `offset`        | a hash of its place in the broker's log   |
[[nodiscard]] std::expected<message, std::string> read_consumed(const received_message& from,
                                                                const consume_rules& rules);

// What becomes of a message after the inbox has answered.
//
// clang-format off
// | the inbox answers                   | and                  | the message                       |
// |-------------------------------------|----------------------|-----------------------------------|
// | delivered, now or before            |                      | is acknowledged                   |
// | permanent                           |                      | is put aside, then acknowledged   |
// | transient or undeliverable          | its tries are spent  | likewise                          |
// | transient or undeliverable          |                      | is tried again after a pause      |
// | throttled, of itself or the store   |                      | likewise, and the try not counted |
// | unanswered                          |                      | likewise                          |
// clang-format on

struct consume_verdict {
    enum class kind : std::uint8_t { acknowledge, put_aside, again };
    kind what = kind::acknowledge;
    bool counted = false;
    std::chrono::milliseconds pause{};

    bool operator==(const consume_verdict&) const = default;
};

struct consume_patience {
    std::uint32_t tries_max = 10;
    std::chrono::milliseconds pause_min = std::chrono::milliseconds{500};
    std::chrono::milliseconds pause_max = std::chrono::seconds{60};
    /// Given out so often without an end, it ends every process that works on it.
    std::uint32_t deliveries_max = 100;
};

/// Pure. `tries` have ended before this one.
[[nodiscard]] consume_verdict judge_consumed(const delivery& answer, std::uint32_t tries,
                                             const consume_patience& patience);

}  // namespace posthorn
