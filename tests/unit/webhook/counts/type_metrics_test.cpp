#include "webhook/counts/type_metrics.hpp"

#include <array>

#include <gmock/gmock.h>

#include "feature/outboxnet_names.hpp"
#include "webhook/counts/published_count.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using counts = type_counts::counts;

std::string in_outboxnet(const type_counts& seen,
                         std::span<const outbox_counters* const> databases = {}) {
    prometheus_text text;
    write_outboxnet(text, seen.view(), databases);
    return text.take();
}

std::string of_type(std::string_view name, std::string_view type, std::string_view value) {
    return "\n" + std::string(name) +
           "{otel_scope_name=\"OutboxNet\",otel_scope_version=\"1.0.0\",event_type=\"" +
           std::string(type) + "\"} " + std::string(value) + "\n";
}

TEST(type_metrics, of_outboxnet_have_its_names_kinds_units_meter_and_tag) {
    type_counts seen;
    seen.note("order.paid", &counts::published);
    for (int i = 0; i < 2; ++i) seen.note("order.paid", &counts::processed);
    for (int i = 0; i < 3; ++i) seen.note("order.paid", &counts::delivered);
    for (int i = 0; i < 4; ++i) seen.note("order.paid", &counts::failed);
    for (int i = 0; i < 5; ++i) seen.note("order.paid", &counts::retried);
    for (int i = 0; i < 6; ++i) seen.note("order.paid", &counts::dead);
    seen.note("order.late", &counts::published);
    const auto text = in_outboxnet(seen);
    for (const auto& [name, value] : {std::pair("outbox_messages_published_total", "1"),
                                      {"outbox_messages_processed_total", "2"},
                                      {"outbox_messages_failed_total", "5"},
                                      {"outbox_messages_dead_lettered_total", "6"},
                                      {"outbox_delivery_attempts_total", "7"},
                                      {"outbox_delivery_successes_total", "3"},
                                      {"outbox_delivery_failures_total", "4"}}) {
        EXPECT_THAT(text, HasSubstr(of_type(name, "order.paid", value)));
        EXPECT_THAT(text, HasSubstr(std::string("# TYPE ") + name + " counter\n"));
    }
    EXPECT_THAT(text, HasSubstr(of_type("outbox_messages_published_total", "order.late", "1")));
    EXPECT_THAT(text, HasSubstr(of_type("outbox_messages_failed_total", "order.late", "0")));
    EXPECT_THAT(text, HasSubstr("# TYPE outbox_batches_processed_total counter\n"));
    for (const auto* const name :
         {"outbox_delivery_duration_ms", "outbox_batch_size", "outbox_processing_duration_ms"})
        EXPECT_THAT(text, HasSubstr(std::string("# TYPE ") + name + " histogram\n"));
    EXPECT_THAT(text, HasSubstr("# HELP outbox_delivery_duration_ms outbox.delivery.duration_ms, "
                                "in ms: "));
    EXPECT_THAT(text, HasSubstr("# HELP outbox_batch_size outbox.batch.size, in messages: "));
}

// What the table names, the node must count: a metric without samples would be missing unseen.
TEST(type_metrics, of_outboxnet_have_samples_each) {
    type_counts seen;
    seen.note_answer("order.paid", 1);
    const auto text = in_outboxnet(seen);
    for (const auto& each : outboxnet_metrics)
        EXPECT_THAT(text, HasSubstr("\n" + prometheus_name(each) +
                                    (is_counter(each) ? "{otel" : "_count{otel")));
}

TEST(type_metrics, of_durations_are_of_answered_requests_by_type) {
    type_counts seen;
    seen.note_answer("order.paid", 2'400);
    seen.note_answer("order.paid", 90'000);
    seen.note("order.late", &counts::failed);  // It was not answered.
    const std::string meter = "{otel_scope_name=\"OutboxNet\",otel_scope_version=\"1.0.0\",";
    const auto text = in_outboxnet(seen);
    const auto part = [&](std::string_view type, std::string_view bound, std::string_view number) {
        return "\noutbox_delivery_duration_ms_bucket" + meter + "event_type=\"" +
               std::string(type) + "\",le=\"" + std::string(bound) + "\"} " + std::string(number) +
               "\n";
    };
    EXPECT_THAT(text, HasSubstr(part("order.paid", "1", "0")));
    EXPECT_THAT(text, HasSubstr(part("order.paid", "2.5", "1")));
    EXPECT_THAT(text, HasSubstr(part("order.paid", "100", "2")));
    EXPECT_THAT(text, HasSubstr(part("order.paid", "+Inf", "2")));
    EXPECT_THAT(text, HasSubstr(of_type("outbox_delivery_duration_ms_sum", "order.paid", "92.4")));
    EXPECT_THAT(text, HasSubstr(of_type("outbox_delivery_duration_ms_count", "order.paid", "2")));
    EXPECT_THAT(text, HasSubstr(of_type("outbox_delivery_duration_ms_count", "order.late", "0")));
}

TEST(type_metrics, of_batches_are_those_of_all_databases_and_have_no_type) {
    outbox_counters one;
    outbox_counters other;
    one.batches = 2;
    one.batch_rows.record(50);
    one.batch_rows.record(3);
    one.batch_us.record(1'500);
    other.batches = 1;
    other.batch_rows.record(1);
    other.batch_us.record(700, 4);  // Three of them were empty.
    const std::array<const outbox_counters*, 2> all{&one, &other};
    const std::string meter = "{otel_scope_name=\"OutboxNet\",otel_scope_version=\"1.0.0\"";
    const auto text = in_outboxnet({}, all);
    EXPECT_THAT(text, HasSubstr("\noutbox_batches_processed_total" + meter + "} 3\n"));
    EXPECT_THAT(text, HasSubstr("\noutbox_batch_size_bucket" + meter + ",le=\"1\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\noutbox_batch_size_bucket" + meter + ",le=\"50\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("\noutbox_batch_size_sum" + meter + "} 54\n"));
    EXPECT_THAT(text, HasSubstr("\noutbox_processing_duration_ms_sum" + meter + "} 4.3\n"));
    EXPECT_THAT(text, HasSubstr("\noutbox_processing_duration_ms_count" + meter + "} 5\n"));
}

TEST(type_metrics, of_our_own_names_say_the_same) {
    type_counts seen;
    seen.note("order.paid", &counts::processed);
    seen.note_answer("order.paid", 1'000);
    prometheus_text text;
    write_types(text, seen.view());
    const auto told = text.take();
    EXPECT_THAT(told,
                HasSubstr("\nposthorn_webhook_processed_total{event_type=\"order.paid\"} 1\n"));
    EXPECT_THAT(told, HasSubstr("\nposthorn_webhook_answer_duration_ms_bucket"
                                "{event_type=\"order.paid\",le=\"1\"} 1\n"));
    EXPECT_THAT(told, Not(HasSubstr("OutboxNet")));
}

// A series that comes twice would cost the whole scrape.
TEST(type_counts, name_a_hundred_types_once_each_as_labels_show_them) {
    type_counts seen;
    seen.note(std::string(200, 'x') + "1", &counts::failed);
    seen.note(std::string(200, 'x') + "2", &counts::failed);
    seen.note("a\xff", &counts::failed);
    seen.note("a\xfe", &counts::failed);
    EXPECT_EQ(seen.view().size(), 2U);
    EXPECT_EQ(seen.view().at("a\xef\xbf\xbd").failed, 2U);
    for (int i = 0; i < 1'000; ++i) seen.note("type " + std::to_string(i), &counts::failed);
    EXPECT_EQ(seen.view().size(), 101U);
    EXPECT_EQ(seen.view().at("(other)").failed, 902U);
}

TEST(published_count, counts_events_and_not_what_is_made_of_them) {
    type_counts seen;
    published_count counted(seen);
    std::vector<outbox_row> stored(4);
    stored[0].body.destination = "webhooks";
    stored[0].body.endpoint = "order.paid";
    stored[1] = stored[0];
    stored[2].body.destination = "webhook:01900000-0000-7000-8000-0000000000a1";
    stored[2].body.endpoint = "order.paid";
    stored[3].body.destination = "billing";
    stored[3].body.endpoint = "Charge";
    counted.committed(stored);
    const auto all = seen.view();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.at("order.paid").published, 2U);
}

}  // namespace
}  // namespace posthorn
