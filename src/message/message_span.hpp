#pragma once

#include <posthorn/message.hpp>

#include "base/trace/tracer.hpp"

namespace posthorn {

/// Ends the span of a message that was made here and is committed, if it has one that has not ended.
void end_publish_span(tracer& traces, const message& committed);

/// What every span of a message says of it.
void describe_message(trace_span& one, const message& what);

}  // namespace posthorn
