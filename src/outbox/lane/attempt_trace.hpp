#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <posthorn/message.hpp>

#include "base/trace/tracer.hpp"
#include "store/outbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// The span of an attempt that was made ready before it may begin, so that the bytes which were made
/// ready are those that are sent.
struct prepared_span {
    uuid message{};
    span_context own{};
};

/// Lets the transport make a message ready. With a span, if it is traced.
[[nodiscard]] std::optional<prepared_span> prepare_traced(transport& wire, const message& next,
                                                          tracer* traces);

/// The spans of one try at a batch; each is a child of the span that its message was published in,
/// and what the receiver does is a child of it.
///
/// Lifetime: the rows outlive it.
class attempt_trace {
public:
    /// Writes the spans into the headers of the rows. What was prepared is used once.
    attempt_trace(tracer& traces, std::vector<outbox_row>& rows,
                  std::optional<prepared_span>& prepared);
    void end(const std::vector<delivery>& answers);

private:
    struct one_span {
        span_context own{};
        span_id parent{};
    };

    tracer& traces_;
    const std::vector<outbox_row>& rows_;
    std::vector<one_span> spans_;
    std::int64_t begun_ns_;
};

}  // namespace posthorn
