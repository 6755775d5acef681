#include "otlp/outboxnet_metrics.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "feature/outboxnet_names.hpp"

namespace posthorn {
namespace {

std::optional<std::string> take_outcome(metric_labels& labels) {
    const auto found = std::ranges::find(labels, "outcome", &metric_labels::value_type::first);
    if (found == labels.end()) return std::nullopt;
    auto value = std::move(found->second);
    labels.erase(found);
    return value;
}

/// Points that differ in their outcome alone become one.
metric make(const outboxnet_metric& rule, const metric& from) {
    metric made{.name = std::string(rule.name),
                .help = std::string(rule.help),
                .unit = std::string(rule.unit),
                .what = from.what};
    std::map<metric_labels, metric_point> by_labels;
    for (auto point : from.points) {
        const auto outcome = take_outcome(point.labels);
        if (!rule.outcome.empty() && outcome != rule.outcome) continue;
        const auto [at, is_new] = by_labels.try_emplace(point.labels, point);
        if (!is_new) at->second.value += point.value;
    }
    for (auto& [labels, point] : by_labels) made.points.push_back(std::move(point));
    return made;
}

}  // namespace

std::vector<metric> without_outboxnet(std::vector<metric> of_node) {
    std::erase_if(of_node,
                  [](const metric& one) { return one.name.starts_with(outboxnet_prefix); });
    return of_node;
}

std::vector<metric> as_outboxnet(std::span<const metric> of_node) {
    std::vector<metric> all;
    for (const auto& rule : outboxnet_metrics) {
        const auto from = std::ranges::find(of_node, rule.ours, &metric::name);
        if (from == of_node.end()) continue;
        if (auto made = make(rule, *from); !made.points.empty()) all.push_back(std::move(made));
    }
    for (const auto& one : of_node)
        if (std::ranges::find(outboxnet_metrics, one.name, &outboxnet_metric::ours) ==
            outboxnet_metrics.end())
            all.push_back(one);
    return all;
}

}  // namespace posthorn
