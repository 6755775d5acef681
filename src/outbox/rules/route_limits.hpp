#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace posthorn {

/// What a route says of its lane; what is left open is as the outbox has it.
struct route_limits {
    std::optional<std::size_t> window{};  // Batches in flight.
    std::optional<std::size_t> batch{};   // Messages in one of them.
    std::optional<double> rate{};         // Messages a second; zero: as fast as it can.
    std::optional<double> burst{};        // Messages at once, after a pause.
    std::optional<std::chrono::milliseconds> timeout{};

    bool operator==(const route_limits&) const = default;
};

}  // namespace posthorn
