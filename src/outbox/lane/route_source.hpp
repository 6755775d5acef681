#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "outbox/rules/drop_order.hpp"
#include "outbox/rules/route_limits.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// Knows the ways to some destinations: the subscribers of a feature, for one. A node asks its fixed
/// routes first, then the sources of its features, then its default route.
///
/// Lifetime: outlives the dispatcher; a transport it gave outlives the attempts made through it.
/// Threads:  the dispatcher's strand.
class route_source {
public:
    virtual ~route_source() = default;

    /// Null if the destination is not one of its own. Asked for each batch.
    virtual transport* find(std::string_view destination) = 0;
    /// Empty if the destination is not one of its own. Asked when a lane is made.
    [[nodiscard]] virtual std::optional<route_limits> limits(
        std::string_view destination) const = 0;
    /// Pending messages that it wants closed without an attempt, but for those that are on their
    /// way. Asked about every second.
    [[nodiscard]] virtual std::vector<drop_order> take_drops() { return {}; }
};

}  // namespace posthorn
