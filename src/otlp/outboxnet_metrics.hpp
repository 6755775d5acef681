#pragma once

#include <span>
#include <vector>

#include "otlp/metric_set.hpp"

namespace posthorn {

/// Without those that `webhooks.metrics` adds to `/metrics` under OutboxNet's names for Prometheus,
/// which say once more what others there say. Pure.
[[nodiscard]] std::vector<metric> without_outboxnet(std::vector<metric> of_node);

/// The metrics of OutboxNet, by its names, kinds, units and tags, out of what the node counts of
/// its webhooks; and after them all others of the node by their own names. Pure.
[[nodiscard]] std::vector<metric> as_outboxnet(std::span<const metric> of_node);

}  // namespace posthorn
