#pragma once

#include <string_view>

#include "outbox/rules/route_limits.hpp"
#include "transport/transport.hpp"

namespace posthorn {

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
