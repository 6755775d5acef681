#include "message/message_span.hpp"

#include <utility>

#include "base/text/http_url.hpp"
#include "message/trace.hpp"

namespace posthorn {

void describe_message(trace_span& one, const message& what) {
    one.attributes.emplace_back(span_key::message_id, what.id.to_string());
    one.attributes.emplace_back(span_key::endpoint, what.endpoint);
    one.attributes.emplace_back(span_key::payload_size,
                                static_cast<std::int64_t>(what.payload.size()));
    if (!what.correlation_id.empty())
        one.attributes.emplace_back(span_key::correlation_id, what.correlation_id);
    if (what.headers.contains("tracestate")) one.state = trace_of(what.headers).state;
}

void describe_destination(trace_span& one, std::string_view destination) {
    if (!has_url_scheme(destination)) {
        one.attributes.emplace_back(span_key::destination, std::string(destination));
    } else if (const auto parsed = parse_http_url(destination)) {
        one.attributes.emplace_back(span_key::destination, origin(*parsed));
    }
}

void end_publish_span(tracer& traces, const message& committed) {
    const auto begun = traces.awaited().take(committed.id);
    if (!begun || !traces.has_room()) return;
    trace_span made{.of = begun->own,
                    .parent = begun->parent,
                    .kind = span_kind::publish,
                    .begun_ns = begun->begun_ns,
                    .ended_ns = traces.now_ns()};
    describe_message(made, committed);
    describe_destination(made, committed.destination);
    traces.add(std::move(made));
}

}  // namespace posthorn
