#include "store/message_maker.hpp"

#include <exception>
#include <utility>

#include "message/trace.hpp"

namespace posthorn {
namespace {

// The end of time, rather than a time long past, for a life that reaches beyond what can be said.
wall_time later(wall_time from, std::chrono::milliseconds by) {
    return by > wall_time::max() - from ? wall_time::max() : from + by;
}

}  // namespace

// Writes a described message as the serializer does, unless its sender says what it is.
result<std::string> message_maker::content_type_of(detail::send_request& asked) const {
    if (asked.options.content_type) return *std::move(asked.options.content_type);
    const auto& by = defaults_.serializer;
    if (!by || !asked.described) return "application/json";
    try {
        asked.payload = by->from_json(asked.payload);
    } catch (const std::exception& refused) {
        return fail(error_code::invalid_payload, "the serializer cannot write {}: {}",
                    asked.endpoint, refused.what());
    }
    return std::string(by->content_type());
}

// What is sent belongs to a span of its own, from here to its commit; its id is what others see.
void message_maker::trace(message& made, const message* cause) const {
    auto& traces = *traces_;
    auto parent = span_of(made.headers);
    std::string state;
    if (parent) {
        state = trace_of(made.headers).state;
    } else if (cause != nullptr) {
        parent = span_of(cause->headers);
        state = trace_of(cause->headers).state;
    }
    const auto own = traces.begin(parent ? &*parent : nullptr);
    auto headers = put_trace(made.headers, own, state, defaults_.limits.headers_size_max);
    if (!headers) return;
    made.headers = *std::move(headers);
    if (own.is_sampled())
        traces.awaited().add({.message = made.id,
                              .own = own,
                              .parent = parent ? parent->span : span_id{},
                              .begun_ns = traces.now_ns()});
}

result<message> message_maker::make(detail::send_request asked, const message* cause) const {
    if (!defaults_.may_send)
        return fail(error_code::invalid_argument,
                    "this node has no outbox, so nothing would send {}; give it one with "
                    "service.parts = \"both\", or send from another node",
                    asked.endpoint);
    POSTHORN_LET(content_type, content_type_of(asked));
    auto& options = asked.options;
    const auto now = time_.wall();
    message made{
        .id = options.id ? *options.id : ids_.next(),
        .type = options.type,
        .source = defaults_.source,
        .destination = std::string(asked.destination),
        .endpoint = std::string(asked.endpoint),
        .payload = std::move(asked.payload),
        .content_type = std::move(content_type),
        .headers = std::move(options.headers),
        .correlation_id = std::move(options.correlation_id),
        .tenant = std::move(options.tenant),
        .order_key = std::move(options.order_key),
        .dedupe_key = std::move(options.dedupe_key),
        .parent_id = options.parent_id,
        .causation_id = std::nullopt,
        .priority = options.priority,
        .max_retries = options.max_retries.value_or(defaults_.max_retries),
        .created_at = now,
        .expires_at = later(now, options.expires_in.value_or(defaults_.expires_in)),
        .deliver_at = options.deliver_at,
    };
    if (cause != nullptr) {
        made.causation_id = cause->id;
        if (made.correlation_id.empty()) made.correlation_id = cause->correlation_id;
        if (made.tenant.empty()) made.tenant = cause->tenant;
    }
    if (tracing(traces_) != nullptr)
        trace(made, cause);
    else if (cause != nullptr)
        made.headers =
            carry_trace(std::move(made.headers), cause->headers, defaults_.limits.headers_size_max);
    POSTHORN_TRY(validate(made, defaults_.limits));
    if (made.deliver_at && *made.deliver_at >= made.expires_at)
        return fail(error_code::message_expired,
                    "the message would expire before its deliver_at; give it a longer expires_in");
    return made;
}

}  // namespace posthorn
