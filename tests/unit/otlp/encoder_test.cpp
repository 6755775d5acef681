#include <gmock/gmock.h>

#include "otlp/metric_encoder.hpp"
#include "otlp/span_encoder.hpp"
#include "unit/otlp/proto_fields.hpp"

namespace posthorn {
namespace {

using test::attributes_in;
using test::proto_fields;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::Pair;

const telemetry_resource resource{{"service.name", "orders"}, {"service.instance.id", "a"}};

trace_span example() {
    trace_span one{.of = {.trace = {0x0102030405060708, 9}, .span = {0x0a0b}, .flags = 1},
                   .parent = {0xff},
                   .kind = span_kind::deliver,
                   .failed = true,
                   .state = "v=1",
                   .begun_ns = 1'700'000'000'000'000'001,
                   .ended_ns = 1'700'000'000'000'000'200};
    one.attributes.emplace_back(span_key::message_id, std::string("m-1"));
    one.attributes.emplace_back(span_key::attempt, std::int64_t{-3});
    one.attributes.emplace_back(span_key::duplicate, true);
    one.attributes.emplace_back(span_key::delivered, false);
    one.attributes.emplace_back(span_key::error_type,
                                std::string("bad\xff") + std::string(300, 'x'));
    one.links.push_back({{3, 4}, {5}});
    one.links_left_out = 7;
    return one;
}

TEST(span_encoder, says_all_of_a_span_in_the_fields_of_the_protocol) {
    const std::vector spans{example(), trace_span{}};
    const auto bytes = encode_spans(resource, spans, telemetry_profile::messaging);
    const auto of_resource = proto_fields(bytes).in(1);
    EXPECT_THAT(attributes_in(of_resource.in(1), 1),
                ElementsAre(Pair("service.name", "orders"), Pair("service.instance.id", "a")));
    EXPECT_EQ(of_resource.in(2).in(1).text(1), "posthorn");
    const auto read = test::spans_in(bytes);
    ASSERT_EQ(read.size(), 2U);
    const auto& one = read[0];
    using namespace std::string_literals;
    EXPECT_EQ(one.text(1), "\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\0\0\0\0\x09"s);
    EXPECT_EQ(one.text(2), "\0\0\0\0\0\0\x0a\x0b"s);
    EXPECT_EQ(one.text(3), "v=1");
    EXPECT_EQ(one.text(4), "\0\0\0\0\0\0\0\xff"s);
    EXPECT_EQ(one.text(5), "outbox.deliver");
    EXPECT_EQ(one.one(6).value, 3U);
    EXPECT_EQ(one.one(7).value, 1'700'000'000'000'000'001U);
    EXPECT_EQ(one.one(8).value, 1'700'000'000'000'000'200U);
    const auto said = attributes_in(one, 9);
    EXPECT_THAT(said, Contains(Pair("messaging.message.id", "m-1")));
    EXPECT_THAT(said, Contains(Pair("messaging.operation.type", "send")));
    EXPECT_THAT(said, Contains(Pair("posthorn.attempt", "-3")));
    EXPECT_THAT(said, Contains(Pair("posthorn.duplicate", "true")));
    for (const auto& [key, value] : said) EXPECT_LE(value.size(), 300U) << key;
    EXPECT_EQ(one.in(13).text(2), "\0\0\0\0\0\0\0\x05"s);
    EXPECT_EQ(one.one(14).value, 7U);
    EXPECT_EQ(one.in(15).one(3).value, 2U);
    EXPECT_EQ(one.one(16).value, 1U);
    EXPECT_FALSE(read[1].has(4)) << "the first of a trace has no parent";
    EXPECT_FALSE(read[1].has(15)) << "it did not fail";
}

TEST(span_encoder, speaks_in_the_words_of_outboxnet_where_that_is_chosen) {
    auto one = example();
    one.kind = span_kind::deliver_webhook;
    one.attributes.emplace_back(span_key::endpoint, std::string("order.placed"));
    one.attributes.emplace_back(span_key::subscription, std::string("s-1"));
    one.attributes.emplace_back(span_key::webhook_url, std::string("https://shop.example"));
    one.attributes.emplace_back(span_key::http_status, std::int64_t{503});
    one.attributes.emplace_back(span_key::batch_size, std::int64_t{3});
    const std::vector spans{one};
    const auto bytes = encode_spans(resource, spans, telemetry_profile::outboxnet);
    const auto scope = proto_fields(bytes).in(1).in(2).in(1);
    EXPECT_EQ(scope.text(1), "OutboxNet");
    EXPECT_EQ(scope.text(2), "1.0.0");
    const auto read = test::spans_in(bytes);
    EXPECT_EQ(read[0].text(5), "outbox.deliver_webhook");
    const auto said = attributes_in(read[0], 9);
    for (const auto& [key, value] :
         {std::pair{"outbox.message_id", "m-1"}, std::pair{"outbox.event_type", "order.placed"},
          std::pair{"outbox.subscription_id", "s-1"},
          std::pair{"outbox.webhook_url", "https://shop.example"},
          std::pair{"http.status_code", "503"}, std::pair{"outbox.delivery.success", "false"},
          std::pair{"outbox.batch_size", "3"}})
        EXPECT_THAT(said, Contains(Pair(key, value)));
    EXPECT_THAT(said, Not(Contains(Pair("messaging.system", "posthorn"))));
}

TEST(span_encoder, has_a_name_for_everything) {
    for (int i = 0; i <= static_cast<int>(span_kind::workflow_step); ++i) {
        const auto kind = static_cast<span_kind>(i);
        EXPECT_FALSE(name_of(kind).empty());
        EXPECT_GE(protocol_kind(kind), 1U);
    }
    EXPECT_EQ(parse_profile("messaging"), telemetry_profile::messaging);
    EXPECT_EQ(parse_profile("outboxnet"), telemetry_profile::outboxnet);
    EXPECT_FALSE(parse_profile("OutboxNet"));
}

TEST(metric_encoder, says_gauges_counters_and_histograms) {
    const std::vector<metric> metrics{
        {.name = "g", .help = "A gauge.", .points = {{.labels = {{"k", "v"}}, .value = 0}}},
        {.name = "c", .unit = "By", .what = metric::kind::counter, .points = {{.value = 2.5}}},
        {.name = "h",
         .what = metric::kind::histogram,
         .points = {{.bounds = {1, 5}, .counts = {2, 0, 1}, .sum = 9}}}};
    const auto bytes = encode_metrics(resource, metrics, {.since_ns = 10, .at_ns = 20},
                                      telemetry_profile::messaging);
    const auto scope = proto_fields(bytes).in(1).in(2);
    const auto read = scope.all(2);
    ASSERT_EQ(read.size(), 3U);
    const proto_fields gauge(read[0].bytes);
    EXPECT_EQ(gauge.text(1), "g");
    EXPECT_EQ(gauge.text(2), "A gauge.");
    const auto point = gauge.in(5).in(1);
    EXPECT_EQ(point.one(3).value, 20U);
    EXPECT_EQ(point.one(4).real(), 0) << "a zero is a number too";
    EXPECT_FALSE(point.has(2));
    EXPECT_THAT(attributes_in(point, 7), ElementsAre(Pair("k", "v")));
    const proto_fields counter(read[1].bytes);
    EXPECT_EQ(counter.text(3), "By");
    EXPECT_EQ(counter.in(7).one(2).value, 2U) << "cumulative";
    EXPECT_EQ(counter.in(7).one(3).value, 1U) << "it only rises";
    EXPECT_EQ(counter.in(7).in(1).one(2).value, 10U);
    EXPECT_EQ(counter.in(7).in(1).one(4).real(), 2.5);
    const auto histogram = proto_fields(read[2].bytes).in(9);
    EXPECT_EQ(histogram.one(2).value, 2U);
    EXPECT_EQ(histogram.in(1).one(4).value, 3U);
    EXPECT_EQ(histogram.in(1).one(5).real(), 9);
    EXPECT_EQ(histogram.in(1).one(6).bytes.size(), 24U);
    EXPECT_EQ(histogram.in(1).one(7).bytes.size(), 16U);
}

}  // namespace
}  // namespace posthorn
