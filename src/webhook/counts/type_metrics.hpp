#pragma once

#include <span>

#include "feature/prometheus_text.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "webhook/counts/type_counts.hpp"

namespace posthorn {

/// What was counted of webhooks by type of event, under Posthorn's own names. Pure.
void write_types(prometheus_text& text, const type_counts::by_type& seen);

/// The metrics of OutboxNet by the names that Prometheus gives them, the meter in the labels
/// `otel_scope_name` and `otel_scope_version`. Batches are those of due messages that the cold path
/// finds, of all databases of the node. Pure but for the counters.
void write_outboxnet(prometheus_text& text, const type_counts::by_type& seen,
                     std::span<const outbox_counters* const> of_databases);

}  // namespace posthorn
