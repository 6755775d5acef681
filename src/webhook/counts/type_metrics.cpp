#include "webhook/counts/type_metrics.hpp"

#include <array>
#include <atomic>

#include <fmt/format.h>

#include "feature/outboxnet_names.hpp"

namespace posthorn {
namespace {

using counts = type_counts::counts;

constexpr double us_per_ms = 1000;
constexpr std::string_view answer_duration = "posthorn_webhook_answer_duration_ms";

/// What of a type is told by which name. Those of one name stand together.
struct told_count {
    std::string_view name;
    std::string_view help;
    type_counts::number what;
    std::string_view outcome{};
};

constexpr std::array told{
    told_count{"posthorn_webhook_attempts_total",
               "Attempts by type of event and what came of them.", &counts::delivered, "delivered"},
    told_count{"posthorn_webhook_attempts_total", "", &counts::failed, "failed"},
    told_count{"posthorn_webhook_published_total", "Events that were stored here, by type.",
               &counts::published},
    told_count{"posthorn_webhook_processed_total",
               "Deliveries that were taken, and events with no subscription, by type.",
               &counts::processed},
    told_count{"posthorn_webhook_retries_total", "Failed attempts that are repeated, by type.",
               &counts::retried},
    told_count{"posthorn_webhook_dead_total", "Deliveries that were given up, by type.",
               &counts::dead},
};

histogram_view durations_of(const counts& seen) {
    return {.bounds = {duration_bounds_us.begin(), duration_bounds_us.end()},
            .counts = {seen.took.begin(), seen.took.end()},
            .sum = seen.took_us};
}

/// Of all outcomes, unless the metric is of one.
double count_of(const outboxnet_metric& what, const counts& of_type) {
    std::uint64_t all = 0;
    for (const auto& each : told)
        if (each.name == what.ours && (what.outcome.empty() || each.outcome == what.outcome))
            all += of_type.*each.what;
    return static_cast<double>(all);
}

histogram_view sum(std::span<const outbox_counters* const> all, histogram outbox_counters::* of,
                   std::span<const std::uint64_t> bounds) {
    auto made = histogram(bounds).view();
    for (const auto* one : all) {
        const auto seen = (one->*of).view();
        for (std::size_t i = 0; i < made.counts.size(); ++i) made.counts[i] += seen.counts[i];
        made.sum += seen.sum;
    }
    return made;
}

/// False if it is none of batches, which have no type.
bool write_batches(prometheus_text& text, const outboxnet_metric& what,
                   std::span<const outbox_counters* const> all) {
    const prometheus_text::labels meter{{"otel_scope_name", outboxnet_scope},
                                        {"otel_scope_version", outboxnet_version}};
    if (what.ours == "posthorn_outbox_batches_total") {
        std::uint64_t batches = 0;
        for (const auto* one : all) batches += one->batches.load(std::memory_order_relaxed);
        text.sample(static_cast<double>(batches), meter);
    } else if (what.ours == "posthorn_outbox_batch_messages") {
        text.samples(sum(all, &outbox_counters::batch_rows, batch_bounds), 1, meter);
    } else if (what.ours == "posthorn_outbox_batch_duration_ms") {
        text.samples(sum(all, &outbox_counters::batch_us, duration_bounds_us), us_per_ms, meter);
    } else {
        return false;
    }
    return true;
}

}  // namespace

void write_types(prometheus_text& text, const type_counts::by_type& seen) {
    std::string_view begun;
    for (const auto& [name, help, what, outcome] : told) {
        if (name != begun) text.begin(name, "counter", help);
        begun = name;
        for (const auto& [type, of_type] : seen) {
            const auto value = static_cast<double>(of_type.*what);
            if (outcome.empty())
                text.sample(value, {{"event_type", type}});
            else
                text.sample(value, {{"event_type", type}, {"outcome", outcome}});
        }
    }
    text.begin(answer_duration, "histogram", "How long attempts took that were answered, by type.");
    for (const auto& [type, of_type] : seen)
        text.samples(durations_of(of_type), us_per_ms, {{"event_type", type}});
}

void write_outboxnet(prometheus_text& text, const type_counts::by_type& seen,
                     std::span<const outbox_counters* const> of_databases) {
    for (const auto& each : outboxnet_metrics) {
        const auto unit = each.unit.empty() ? std::string() : fmt::format(", in {}", each.unit);
        text.begin(prometheus_name(each), is_counter(each) ? "counter" : "histogram",
                   fmt::format("{}{}: {}", each.name, unit, each.help));
        if (write_batches(text, each, of_databases)) continue;
        for (const auto& [type, of_type] : seen) {
            const prometheus_text::labels labels{{"otel_scope_name", outboxnet_scope},
                                                 {"otel_scope_version", outboxnet_version},
                                                 {"event_type", type}};
            if (each.ours == answer_duration)
                text.samples(durations_of(of_type), us_per_ms, labels);
            else
                text.sample(count_of(each, of_type), labels);
        }
    }
}

}  // namespace posthorn
