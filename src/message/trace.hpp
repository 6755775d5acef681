#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/trace/span_context.hpp"

namespace posthorn {

/// W3C trace context, as a message's headers give it.
struct trace_context {
    std::string parent;  // `traceparent`; empty if there is none that is well-formed.
    std::string state;   // `tracestate`; empty without a parent.

    bool operator==(const trace_context&) const = default;
};

/// The trace among a message's headers. What is not as the standard says is left out.
[[nodiscard]] trace_context trace_of(std::string_view headers);

/// `headers`, with the trace of the message that caused this one. They stay as they are if they
/// give a trace of their own, are not a JSON object, or would be longer than `size_max`.
[[nodiscard]] std::string carry_trace(std::string headers, std::string_view headers_of_cause,
                                      std::size_t size_max);

/// The span that the headers name as what the message comes from. Quick for headers that `put_trace`
/// has written.
[[nodiscard]] std::optional<span_context> span_of(std::string_view headers);

/// `headers` with this span as what the message comes from, in place of another, and with that
/// `tracestate` if it is not empty. Nothing if they are not a JSON object, or would be longer than
/// `size_max`.
[[nodiscard]] std::optional<std::string> put_trace(std::string_view headers,
                                                   const span_context& from, std::string_view state,
                                                   std::size_t size_max);

/// The same in place and without a limit, for headers that `span_of` has read. False, and the
/// headers as they were, if they are not what they were then.
bool change_span(std::string& headers, const span_context& to);

}  // namespace posthorn
