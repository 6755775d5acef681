#include "engine/steps/step_span.hpp"

#include <cstddef>
#include <utility>

#include "engine/steps/step_writer.hpp"
#include "message/trace.hpp"

namespace posthorn {

step_span begin_step_span(const pending_step& step, tracer& traces) {
    step_span made{.begun_ns = traces.now_ns()};
    if (const auto parent = parse_traceparent(step.of.trace)) {
        made.own = traces.begin(&*parent);
        made.parent = parent->span;
        return made;
    }
    const auto first = traces.first_of(step.of.name);
    if (step.number == 1 && step.of.run == 1) {
        made.own = first;
    } else {
        made.own = traces.begin(&first);
        made.parent = first.span;
    }
    return made;
}

void end_step_span(const pending_step& step, tracer& traces) {
    if (!step.span || !step.span->own.is_sampled() || !traces.has_room()) return;
    trace_span made{.of = step.span->own,
                    .parent = step.span->parent,
                    .kind = span_kind::workflow_step,
                    .failed = step.did.status == flow_status::failed,
                    .begun_ns = step.span->begun_ns,
                    .ended_ns = traces.now_ns()};
    const auto& event = step.cause.event;
    auto& said = made.attributes;
    said.emplace_back(span_key::workflow, step.of.workflow);
    said.emplace_back(span_key::workflow_id, step.of.id);
    said.emplace_back(span_key::run, step.of.run);
    said.emplace_back(span_key::step, step.number);
    said.emplace_back(span_key::cause,
                      std::string(cause_text(event.kind, event.may_have_taken_effect)));
    if (const auto told_by = parse_traceparent(step.cause.trace))
        made.links.push_back({told_by->trace, told_by->span});
    if (made.failed) said.emplace_back(span_key::error_type, std::string("workflow_failed"));
    traces.add(std::move(made));
}

std::string headers_from(const pending_step& step, std::string headers) {
    constexpr std::size_t size_max = 4096;
    if (!step.span) return headers;
    if (auto made = put_trace(headers, step.span->own, {}, size_max)) return *std::move(made);
    return headers;
}

std::optional<std::string> trace_from(const pending_step& step) {
    if (step.span) return to_traceparent(step.span->own);
    if (step.of.trace.empty()) return std::nullopt;
    return step.of.trace;
}

}  // namespace posthorn
