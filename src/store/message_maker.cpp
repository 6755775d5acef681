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

/// A described message comes as JSON and without a content type, which is then the serializer's.
result<> message_maker::write_described(send_request& asked, std::string& written) const {
    auto& type = asked.options.content_type;
    if (!type.empty()) return {};
    const auto& by = defaults_.payloads;
    type = by ? std::string(by->content_type()) : "application/json";
    if (!by) return {};
    try {
        written = by->from_json(asked.payload);
    } catch (const std::exception& refused) {
        return fail(error_code::invalid_payload, "the serializer cannot write {}: {}",
                    asked.endpoint, refused.what());
    }
    asked.payload = written;
    return {};
}

result<message> message_maker::make(send_request asked) const {
    if (!defaults_.may_send)
        return fail(error_code::invalid_argument,
                    "this node has no outbox, so nothing would send {}; give it one with "
                    "service.parts = \"both\", or send from another node",
                    asked.endpoint);
    std::string written;
    POSTHORN_TRY(write_described(asked, written));
    auto& options = asked.options;
    const auto now = time_.wall();
    message made{
        .id = options.id ? *options.id : ids_.next(),
        .type = options.type,
        .source = defaults_.source,
        .destination = std::string(asked.destination),
        .endpoint = std::string(asked.endpoint),
        .payload = std::string(asked.payload),
        .content_type = std::move(options.content_type),
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
    if (asked.cause != nullptr) {
        made.causation_id = asked.cause->id;
        if (made.correlation_id.empty()) made.correlation_id = asked.cause->correlation_id;
        if (made.tenant.empty()) made.tenant = asked.cause->tenant;
        made.headers = carry_trace(std::move(made.headers), asked.cause->headers,
                                   defaults_.limits.headers_size_max);
    }
    POSTHORN_TRY(validate(made, defaults_.limits));
    if (made.deliver_at && *made.deliver_at >= made.expires_at)
        return fail(error_code::message_expired,
                    "the message would expire before its deliver_at; give it a longer expires_in");
    return made;
}

}  // namespace posthorn
