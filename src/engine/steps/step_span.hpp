#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/trace/tracer.hpp"

namespace posthorn {

struct pending_step;

/// The span of a step.
struct step_span {
    span_context own{};
    span_id parent{};
    std::int64_t begun_ns = 0;
};

/// Begins the span of a step: part of the trace that started the workflow, or of one that follows
/// from the workflow's uuid, so that all of its steps have the same, whatever run they are of.
[[nodiscard]] step_span begin_step_span(const pending_step& step, tracer& traces);
/// The step is committed.
void end_step_span(const pending_step& step, tracer& traces);

/// Headers of what a step sends: these, from its span if it has one.
[[nodiscard]] std::string headers_from(const pending_step& step, std::string headers = {});
/// The `traceparent` of a workflow that a step begins: the step's span, or what its own workflow was
/// started by.
[[nodiscard]] std::optional<std::string> trace_from(const pending_step& step);

}  // namespace posthorn
