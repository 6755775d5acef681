#pragma once

#include <vector>

#include "base/trace/tracer.hpp"
#include "inbox/arrival.hpp"

namespace posthorn {

/// Begins the spans of messages that came in: each a child of the attempt that brought it.
void begin_handle_spans(tracer& traces, std::vector<arrival>& arrivals);
/// Ends them, once it is known what each message is answered with.
void end_handle_spans(tracer& traces, const std::vector<arrival>& arrivals);

}  // namespace posthorn
