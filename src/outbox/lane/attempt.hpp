#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "outbox/lane/attempt_trace.hpp"
#include "store/outbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// One try at a batch, survived whatever the transport does: an answer for each row, in their
/// order. Takes as long as the transport does; who has had enough cancels it. Where it is traced, the
/// rows' headers say so from now on.
///
/// Lifetime: all that it is given outlives it.
task<std::vector<delivery>> attempt(transport& wire, std::vector<outbox_row>& rows, tracer* traces,
                                    std::optional<prepared_span>& prepared);

/// What is said for each of so many rows when the lane stops waiting.
[[nodiscard]] std::vector<delivery> timed_out(std::size_t rows, std::chrono::milliseconds limit);

/// An answer that we give ourselves.
[[nodiscard]] delivery failure(std::string why, outcome what = outcome::transient);

/// What is said of each message without a route.
[[nodiscard]] delivery no_route_to(std::string_view destination);

/// Failures are not charged to the messages.
void spare(std::vector<delivery>& answers);

}  // namespace posthorn
