#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/trace/span_context.hpp"

namespace posthorn {

/// What a span is around. How that is called outside of the node, its exporter knows.
enum class span_kind : std::uint8_t {
    publish,          // A message from its making to its commit.
    process_batch,    // What one look at a destination's due messages found.
    deliver,          // One attempt at a message.
    fan_out,          // An event to its subscribers.
    deliver_webhook,  // One request to a subscriber.
    handle,           // A message from its arrival to its answer.
    workflow_step,
};

/// What is said of a span.
enum class span_key : std::uint8_t {
    message_id,
    correlation_id,
    endpoint,       // Of an event, its type.
    destination,    // The service or the subscription that it is for.
    source,         // The service that sent it.
    payload_size,   // In bytes.
    attempt,        // From 1.
    batch_size,     // In messages.
    duplicate,      // The message was known, and had no second effect.
    subscriptions,  // To which an event went.
    subscription,
    webhook_url,  // Without query and user: these may hold a secret.
    http_status,
    delivered,
    error_type,
    workflow,
    workflow_id,
    run,   // From 1.
    step,  // Of that run.
    cause,
};

struct span_link {
    trace_id trace{};
    span_id span{};
};

/// Something that took time, as plain data.
struct trace_span {
    using attribute = std::pair<span_key, std::variant<std::string, std::int64_t, bool>>;

    span_context of{};
    span_id parent{};  // None for the first of its trace.
    span_kind kind = span_kind::publish;
    bool failed = false;
    std::string state{};        // The `tracestate`.
    std::int64_t begun_ns = 0;  // Since 1970.
    std::int64_t ended_ns = 0;
    std::vector<attribute> attributes{};
    std::vector<span_link> links{};
    std::uint32_t links_left_out = 0;
};

}  // namespace posthorn
