#pragma once

#include <chrono>
#include <cstddef>

#include "app/config/config.hpp"

namespace posthorn {

struct drain_options {
    std::size_t batch = 50;                                      // Messages in a round, at most.
    std::chrono::milliseconds limit = std::chrono::seconds{25};  // Of all of it but the stop.
    bool once = false;  // One round; otherwise until one finds nothing, or the time is over.
};

struct drained {
    std::size_t processed = 0;  // Taken up, whatever came of them.
    bool is_more = false;       // There are messages that are due and were not taken up.
};

/// Sends what is due and ends: a node without listeners that takes messages up in rounds. SIGINT and
/// SIGTERM end it cleanly before its time. Blocks the calling thread.
///
/// `error_code::store_busy` if another node has the outbox and does not give it up.
[[nodiscard]] result<drained> drain(config settings, const drain_options& options);

}  // namespace posthorn
