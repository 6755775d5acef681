#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace posthorn {

/// A metric of OutboxNet: its name there, and which of the node's says it.
struct outboxnet_metric {
    std::string_view name;
    std::string_view ours;
    std::string_view help;
    std::string_view outcome{};  // Of what has this label alone; of all if empty.
    std::string_view unit{};
};

inline constexpr std::array outboxnet_metrics{
    outboxnet_metric{"outbox.messages.published", "posthorn_webhook_published_total",
                     "Events that were stored here."},
    outboxnet_metric{"outbox.messages.processed", "posthorn_webhook_processed_total",
                     "Deliveries that were taken, and events with no subscription."},
    outboxnet_metric{"outbox.messages.failed", "posthorn_webhook_retries_total",
                     "Failed attempts that are repeated."},
    outboxnet_metric{"outbox.messages.dead_lettered", "posthorn_webhook_dead_total",
                     "Deliveries that were given up."},
    outboxnet_metric{"outbox.delivery.attempts", "posthorn_webhook_attempts_total",
                     "Requests to subscribers."},
    outboxnet_metric{"outbox.delivery.successes", "posthorn_webhook_attempts_total",
                     "Requests that were answered with 2xx.", "delivered"},
    outboxnet_metric{"outbox.delivery.failures", "posthorn_webhook_attempts_total",
                     "All other requests.", "failed"},
    outboxnet_metric{"outbox.delivery.duration_ms", "posthorn_webhook_answer_duration_ms",
                     "How long requests took that were answered.", "", "ms"},
    outboxnet_metric{"outbox.batches.processed", "posthorn_outbox_batches_total",
                     "Batches of due messages that were not empty."},
    outboxnet_metric{"outbox.batch.size", "posthorn_outbox_batch_messages",
                     "Messages in each of them.", "", "messages"},
    outboxnet_metric{"outbox.processing.duration_ms", "posthorn_outbox_batch_duration_ms",
                     "How long batches took, empty ones and failed ones too.", "", "ms"},
};

/// Of the meter, and of the source of spans.
inline constexpr std::string_view outboxnet_scope = "OutboxNet";
inline constexpr std::string_view outboxnet_version = "1.0.0";

/// What all of its names begin with where Prometheus reads them, and none of ours.
inline constexpr std::string_view outboxnet_prefix = "outbox_";

[[nodiscard]] constexpr bool is_counter(const outboxnet_metric& one) {
    return one.ours.ends_with("_total");
}

/// As Prometheus has names: underscores for dots, `_total` behind a counter.
[[nodiscard]] inline std::string prometheus_name(const outboxnet_metric& one) {
    std::string name(one.name);
    std::ranges::replace(name, '.', '_');
    if (is_counter(one)) name += "_total";
    return name;
}

}  // namespace posthorn
