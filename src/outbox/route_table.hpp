#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "transport/transport.hpp"

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

/// Which transport leads to a destination.
///
/// Lifetime: outlives the dispatcher; a transport it gave outlives the attempts made through it.
/// Threads:  the dispatcher's strand.
class route_table {
public:
    virtual ~route_table() = default;

    /// Null if there is no route. Asked for each batch, so that a new route takes hold at once.
    virtual transport* find(std::string_view destination) = 0;
    /// Asked when a lane is made and when `dispatcher::routes_changed` is called.
    [[nodiscard]] virtual route_limits limits(std::string_view /*destination*/) const { return {}; }
};

}  // namespace posthorn
