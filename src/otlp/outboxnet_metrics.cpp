#include "otlp/outboxnet_metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace posthorn {
namespace {

/// How one of them is made of one of ours.
struct made_of {
    std::string_view name;
    std::string_view ours;
    std::string_view outcome{};  // Of points with this label alone; of all if empty.
    std::string_view unit{};
    double scale = 1;
};

constexpr std::array rules{
    made_of{"outbox.messages.published", "posthorn_webhook_published_total"},
    made_of{"outbox.messages.processed", "posthorn_webhook_processed_total"},
    made_of{"outbox.messages.failed", "posthorn_webhook_retries_total"},
    made_of{"outbox.messages.dead_lettered", "posthorn_webhook_dead_total"},
    made_of{"outbox.delivery.attempts", "posthorn_webhook_attempts_total"},
    made_of{"outbox.delivery.successes", "posthorn_webhook_attempts_total", "delivered"},
    made_of{"outbox.delivery.failures", "posthorn_webhook_attempts_total", "failed"},
    made_of{"outbox.delivery.duration_ms", "posthorn_webhook_duration_seconds", {}, "ms", 1000},
    made_of{"outbox.batches.processed", "posthorn_outbox_batches_total"},
    made_of{"outbox.batch.size", "posthorn_outbox_batch_messages", {}, "messages"},
    made_of{"outbox.processing.duration_ms", "posthorn_outbox_batch_duration_ms", {}, "ms"},
};

constexpr std::string_view outcome_label = "outcome";

std::optional<std::string> take_outcome(metric_labels& labels) {
    const auto found = std::ranges::find(labels, outcome_label, &metric_labels::value_type::first);
    if (found == labels.end()) return std::nullopt;
    auto value = std::move(found->second);
    labels.erase(found);
    return value;
}

metric_point scaled(metric_point point, double scale) {
    for (auto& each : point.bounds) each *= scale;
    point.sum *= scale;
    return point;
}

/// Points that differ in their outcome alone become one.
metric make(const made_of& rule, const metric& from) {
    metric made{.name = std::string(rule.name),
                .help = from.help,
                .unit = std::string(rule.unit),
                .what = from.what};
    std::map<metric_labels, metric_point> by_labels;
    for (auto point : from.points) {
        const auto outcome = take_outcome(point.labels);
        if (!rule.outcome.empty() && outcome != rule.outcome) continue;
        const auto labels = point.labels;
        const auto [at, is_new] = by_labels.try_emplace(labels, scaled(point, rule.scale));
        if (!is_new) at->second.value += point.value;
    }
    for (auto& [labels, point] : by_labels) made.points.push_back(std::move(point));
    return made;
}

}  // namespace

std::vector<metric> as_outboxnet(std::span<const metric> of_node) {
    std::vector<metric> all;
    for (const auto& rule : rules) {
        const auto from = std::ranges::find(of_node, rule.ours, &metric::name);
        if (from == of_node.end()) continue;
        if (auto made = make(rule, *from); !made.points.empty()) all.push_back(std::move(made));
    }
    for (const auto& one : of_node)
        if (std::ranges::find(rules, one.name, &made_of::ours) == rules.end()) all.push_back(one);
    return all;
}

}  // namespace posthorn
