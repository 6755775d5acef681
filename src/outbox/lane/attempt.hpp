#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "store/outbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// One try at a batch, survived whatever the transport does: an answer for each row, in their
/// order. Takes as long as the transport does; who has had enough cancels it.
///
/// Lifetime: the rows and the wire outlive it.
task<std::vector<delivery>> attempt(transport& wire, const std::vector<outbox_row>& rows);

/// What is said for each of so many rows when the lane stops waiting.
[[nodiscard]] std::vector<delivery> timed_out(std::size_t rows, std::chrono::milliseconds limit);

/// An answer that we give ourselves.
[[nodiscard]] delivery failure(std::string why, outcome what = outcome::transient);

/// What is said of each message without a route.
[[nodiscard]] delivery no_route_to(std::string_view destination);

/// Failures are not charged to the messages.
void spare(std::vector<delivery>& answers);

}  // namespace posthorn
