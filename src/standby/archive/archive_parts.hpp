#pragma once

#include <vector>

#include "feature/node_builder.hpp"
#include "feature/store_builder.hpp"

namespace posthorn::standby {

// The archive's part of the feature.

/// Adds what keeps the log, where that is configured.
result<> add_archive(store_builder& into, std::vector<log_shipper*>& takers);
/// Its route and, where there is an archive, its health and metrics.
void install_archive(node_builder& into);

}  // namespace posthorn::standby
