#pragma once

#include <cstdint>
#include <string_view>

#include "base/trace/tracer.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// The span of what one look at a destination's due messages found: a trace of its own, linked to
/// the spans that published them.
void add_batch_span(tracer& traces, std::string_view destination, const outbox_page& found,
                    std::int64_t begun_ns);

}  // namespace posthorn
