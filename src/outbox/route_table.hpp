#pragma once

#include <string_view>

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
};

}  // namespace posthorn
