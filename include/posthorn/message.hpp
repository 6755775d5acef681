#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

/// What a message is for. On the wire and in the tables: `Signal`, `Command`, `PushCall`,
/// `Response`.
enum class message_type : std::uint8_t { signal, command, push_call, response };

[[nodiscard]] std::string_view to_string(message_type type) noexcept;
[[nodiscard]] std::optional<message_type> parse_message_type(std::string_view text) noexcept;

/// As `max_retries`: try until the message expires.
inline constexpr std::int32_t retry_for_ever = -1;

/// One message, as the sender stored it and as the handler sees it.
struct message {
    uuid id;
    message_type type = message_type::signal;
    std::string source;       // The service that sends it.
    std::string destination;  // The service it is for.
    std::string endpoint;     // What it asks for there: the name of a handler.
    std::string payload;
    std::string content_type = "application/json";
    std::string headers;         // A JSON object, or empty.
    std::string correlation_id;  // Free text that links a reply to its request.
    std::string tenant;
    std::string order_key;   // Messages that share one take effect in commit order.
    std::string dedupe_key;  // Of two with the same one and destination, the first counts.
    std::optional<uuid> parent_id;
    std::optional<uuid> causation_id;  // The message whose handler sent this one.
    std::int32_t priority = 0;
    std::int32_t max_retries = 5;
    wall_time created_at{};
    wall_time expires_at{};
    std::optional<wall_time> deliver_at;
};

/// What may be said about a message beyond where it goes and what it says.
struct send_options {
    std::optional<uuid> id{};  // A new one unless given; the same one again is the same message.
    message_type type = message_type::signal;
    std::optional<std::string> content_type{};  // Unless given: JSON, or the node's serializer's.
    std::string headers{};
    std::string correlation_id{};
    std::string tenant{};
    std::string order_key{};
    std::string dedupe_key{};
    std::optional<uuid> parent_id{};
    std::int32_t priority = 0;
    std::optional<std::int32_t> max_retries{};              // The node's default unless given.
    std::optional<std::chrono::milliseconds> expires_in{};  // Likewise.
    std::optional<wall_time> deliver_at{};                  // Not before; at once unless given.
};

/// What may be said about an event that is published to webhooks.
struct publish_options {
    std::optional<uuid> id{};  // A new one unless given.
    std::string tenant{};      // Only its subscribers, and those of all tenants, are told.
    /// Events of one tenant, user and entity go out in the order in which they were committed.
    std::string user{};
    std::string entity{};
    std::optional<std::string> content_type{};  // JSON unless given.
    std::string headers{};
    std::string correlation_id{};
};

/// A message that was given up: its retries are spent, trying again cannot help, or its time is
/// over.
struct dead_letter {
    message body;  // Of a row that was not a message, as much as could be read.
    bool expired = false;
    std::string error{};        // Of the last attempt.
    std::int32_t attempts = 0;  // That were charged.
    /// An attempt failed, or had no answer that counts, so the receiver may have handled it. False
    /// also if a process that died, or was told to stop, was all that knew of an attempt.
    bool may_have_taken_effect = false;
};

namespace detail {

/// What a sending call says, before it is a message.
struct send_request {
    std::string_view destination;
    std::string_view endpoint;
    std::string payload;
    send_options options{};
    bool described = false;  // The payload is a described message's JSON.
};

/// An event as a message that is fanned out to its subscribers.
[[nodiscard]] send_request event_request(std::string_view type, std::string_view payload,
                                         publish_options options);

}  // namespace detail

}  // namespace posthorn
