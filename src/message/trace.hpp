#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

}  // namespace posthorn
