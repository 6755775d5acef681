#include "message/message_span.hpp"

#include <utility>

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

void end_publish_span(tracer& traces, const message& committed) {
    const auto begun = traces.awaited().take(committed.id);
    if (!begun || !traces.has_room()) return;
    trace_span made{.of = begun->own,
                    .parent = begun->parent,
                    .kind = span_kind::publish,
                    .begun_ns = begun->begun_ns,
                    .ended_ns = traces.now_ns()};
    describe_message(made, committed);
    made.attributes.emplace_back(span_key::destination, committed.destination);
    traces.add(std::move(made));
}

}  // namespace posthorn
