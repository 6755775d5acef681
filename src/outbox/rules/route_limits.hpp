#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "outbox/rules/replay.hpp"
#include "outbox/rules/retry_policy.hpp"

namespace posthorn {

/// What a route says of its lane; what is left open is as the outbox has it.
struct route_limits {
    std::optional<std::size_t> window{};  // Batches in flight.
    std::optional<std::size_t> batch{};   // Messages in one of them.
    std::optional<double> rate{};         // Messages a second; zero: as fast as it can.
    std::optional<double> burst{};        // Messages at once, after a pause.
    std::optional<std::chrono::milliseconds> timeout{};
    std::shared_ptr<const retry_policy> retries{};               // The node's, if null.
    std::optional<std::chrono::milliseconds> probe_pause_max{};  // While it does not answer.
    /// The other end is a stranger's: one that only fails is left alone like one that is silent,
    /// and what is tried meanwhile is not charged.
    bool failures_shut = false;
    /// After an outage the backlog goes out so, beside what is newer; at once if empty.
    std::optional<replay_options> replay{};

    bool operator==(const route_limits&) const = default;
};

}  // namespace posthorn
