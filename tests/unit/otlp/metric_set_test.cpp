#include "otlp/metric_set.hpp"

#include <gmock/gmock.h>

#include "feature/outboxnet_names.hpp"
#include "feature/prometheus_text.hpp"
#include "otlp/outboxnet_metrics.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;

const metric* find(const std::vector<metric>& among, std::string_view name) {
    const auto found = std::ranges::find(among, name, &metric::name);
    return found == among.end() ? nullptr : &*found;
}

TEST(metric_set, is_read_as_the_node_writes_it) {
    prometheus_text text;
    text.gauge("posthorn_working", "Whether it works.", 1);
    text.counter("posthorn_things_total", "Things: all of them.", 7);
    text.begin("posthorn_by_name", "gauge", "Odd names.");
    text.sample(0.5, {{"name", "a \"b\\\n,}= c"}, {"other", ""}});
    text.sample(2e9, {{"name", "plain"}, {"other", "x"}});
    constexpr std::array<std::uint64_t, 3> bounds{1'000, 5'000, 10'000};
    histogram took(bounds);
    for (const std::uint64_t each : {500U, 6'000U, 7'000U, 99'000U}) took.record(each);
    text.begin("posthorn_took_ms", "histogram", "How long.");
    text.samples(took.view(), 1000);
    const auto read = read_prometheus(text.take());
    ASSERT_EQ(read.size(), 4U);
    EXPECT_EQ(read[0].help, "Whether it works.");
    EXPECT_EQ(read[0].what, metric::kind::gauge);
    EXPECT_EQ(read[1].what, metric::kind::counter);
    EXPECT_EQ(read[1].help, "Things: all of them.");
    EXPECT_EQ(read[1].points.at(0).value, 7);
    ASSERT_EQ(read[2].points.size(), 2U);
    EXPECT_EQ(read[2].points[0].labels, (metric_labels{{"name", "a \"b\\\n,}= c"}, {"other", ""}}));
    EXPECT_EQ(read[2].points[1].value, 2e9);
    ASSERT_EQ(read[3].points.size(), 1U);
    EXPECT_EQ(read[3].unit, "ms");
    EXPECT_THAT(read[3].points[0].bounds, ElementsAre(1, 5, 10));
    EXPECT_THAT(read[3].points[0].counts, ElementsAre(1, 0, 2, 1));
    EXPECT_EQ(read[3].points[0].sum, 112.5);
}

TEST(metric_set, leaves_out_what_is_no_sample) {
    EXPECT_TRUE(read_prometheus("").empty());
    const auto read = read_prometheus(
        "stray 1\n# HELP a help\n# TYPE a counter\na 1\na{k=\"v} 2\na{k\n"
        "b 3\na x\na\n# HELP empty nothing\n# TYPE empty gauge\n");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].points.size(), 1U);
}

TEST(outboxnet_metrics, are_made_of_what_the_node_counts_of_webhooks) {
    prometheus_text text;
    text.begin("posthorn_webhook_published_total", "counter", "Published.");
    text.sample(5, {{"event_type", "order.placed"}});
    text.begin("posthorn_webhook_attempts_total", "counter", "Attempts.");
    text.sample(3, {{"event_type", "order.placed"}, {"outcome", "delivered"}});
    text.sample(1, {{"event_type", "order.placed"}, {"outcome", "failed"}});
    constexpr std::array<std::uint64_t, 1> bounds{1'000'000};
    histogram took(bounds);
    took.record(500'000);
    text.begin("posthorn_webhook_answer_duration_ms", "histogram", "Took.");
    text.samples(took.view(), 1e3, {{"event_type", "order.placed"}});
    text.gauge("posthorn_working", "Works.", 1);
    const auto made = as_outboxnet(read_prometheus(text.take()));
    const auto value = [&](std::string_view name) {
        const auto* const found = find(made, name);
        return found == nullptr ? -1 : found->points.at(0).value;
    };
    EXPECT_EQ(value("outbox.messages.published"), 5);
    EXPECT_EQ(value("outbox.delivery.attempts"), 4);
    EXPECT_EQ(value("outbox.delivery.successes"), 3);
    EXPECT_EQ(value("outbox.delivery.failures"), 1);
    const auto* const attempts = find(made, "outbox.delivery.attempts");
    ASSERT_NE(attempts, nullptr);
    EXPECT_EQ(attempts->points.at(0).labels, (metric_labels{{"event_type", "order.placed"}}));
    EXPECT_EQ(attempts->what, metric::kind::counter);
    const auto* const duration = find(made, "outbox.delivery.duration_ms");
    ASSERT_NE(duration, nullptr);
    EXPECT_EQ(duration->unit, "ms");
    EXPECT_EQ(duration->points.at(0).labels, (metric_labels{{"event_type", "order.placed"}}));
    EXPECT_THAT(duration->points.at(0).bounds, ElementsAre(1000));
    EXPECT_EQ(duration->points.at(0).sum, 500);
    EXPECT_NE(find(made, "posthorn_working"), nullptr);
    EXPECT_EQ(find(made, "posthorn_webhook_attempts_total"), nullptr);
}

TEST(outboxnet_metrics, are_not_told_twice) {
    prometheus_text text;
    text.gauge("posthorn_working", "Works.", 1);
    for (const auto& each : outboxnet_metrics)
        text.counter(prometheus_name(each), "As webhooks.metrics adds it.", 1);
    const auto left = without_outboxnet(read_prometheus(text.take()));
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].name, "posthorn_working");
}

}  // namespace
}  // namespace posthorn
