#pragma once

#include <chrono>
#include <vector>

#include "base/timer.hpp"
#include "store/outbox_table.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// One try at a batch, survived whatever the transport does: an answer for each row, in their
/// order. Takes `timeout` at most, if the transport heeds cancellation.
///
/// Lifetime: the rows, the wire and the timer outlive it.
task<std::vector<delivery>> attempt(transport& wire, timer& time, std::chrono::milliseconds timeout,
                                    const std::vector<outbox_row>& rows);

/// An answer that we give ourselves.
[[nodiscard]] delivery failure(std::string why, outcome what = outcome::transient);

}  // namespace posthorn
