#pragma once

#include <string_view>
#include <vector>

#include "outbox/rules/drop_order.hpp"
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
    /// As `route_source::take_drops`, of all sources.
    [[nodiscard]] virtual std::vector<drop_order> take_drops() { return {}; }
};

}  // namespace posthorn
