#pragma once

#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "base/trace/tracer.hpp"

namespace posthorn {

/// Ends the span of a message that was made here and is committed, if it has one that has not ended.
void end_publish_span(tracer& traces, const message& committed);

/// What every span of a message says of it.
void describe_message(trace_span& one, const message& what);

/// Says whom it is for. Of a URL only its server, since the rest may hold a secret, and nothing of
/// one that cannot be called.
void describe_destination(trace_span& one, std::string_view destination);

}  // namespace posthorn
