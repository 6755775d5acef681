#include "inbox/handle_trace.hpp"

#include <utility>

#include "message/message_span.hpp"
#include "message/trace.hpp"

namespace posthorn {

void begin_handle_spans(tracer& traces, std::vector<arrival>& arrivals) {
    const auto now = traces.now_ns();
    for (auto& one : arrivals) {
        const auto parent = span_of(one.what->headers);
        const auto own = traces.begin(parent ? &*parent : nullptr);
        if (parent && !own.is_sampled()) continue;  // It goes on as it came.
        one.span =
            std::make_unique<arrival_span>(arrival_span{.handled = *one.what,
                                                        .own = own,
                                                        .parent = parent ? parent->span : span_id{},
                                                        .begun_ns = now});
        auto& headers = one.span->handled.headers;
        if (parent)
            change_span(headers, own);
        else if (auto made = put_trace(headers, own, {}, headers.max_size()))
            headers = *std::move(made);
    }
}

void end_handle_spans(tracer& traces, const std::vector<arrival>& arrivals) {
    const auto now = traces.now_ns();
    for (const auto& one : arrivals) {
        if (!one.span || !one.span->own.is_sampled() || !traces.has_room()) continue;
        const auto& answer = one.answer;
        const bool handled = answer.what == outcome::delivered;
        trace_span made{.of = one.span->own,
                        .parent = one.span->parent,
                        .kind = span_kind::handle,
                        .failed = !handled,
                        .begun_ns = one.span->begun_ns,
                        .ended_ns = now};
        describe_message(made, *one.what);
        made.attributes.emplace_back(span_key::source, one.what->source);
        if (answer.duplicate) made.attributes.emplace_back(span_key::duplicate, true);
        if (!handled)
            made.attributes.emplace_back(
                span_key::error_type,
                answer.code ? std::string(describe(*answer.code).name) : std::string("failed"));
        traces.add(std::move(made));
    }
}

}  // namespace posthorn
