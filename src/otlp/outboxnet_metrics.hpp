#pragma once

#include <span>
#include <vector>

#include "otlp/metric_set.hpp"

namespace posthorn {

/// The metrics of OutboxNet, by its names, kinds, units and tags, out of what the node counts of its
/// webhooks; and after them all others of the node by their own names. Pure.
[[nodiscard]] std::vector<metric> as_outboxnet(std::span<const metric> of_node);

}  // namespace posthorn
