#include "otlp/otlp_settings.hpp"

#include <map>

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using variables = std::map<std::string, std::string, std::less<>>;
using values = std::map<std::string, feature_value, std::less<>>;

result<otlp_options> read(values said, const variables& set = {}) {
    for (const auto& key : otlp_keys()) said.try_emplace(std::string(key.name), key.fallback());
    return read_otlp_options(feature_settings(std::move(said)),
                             [&set](std::string_view name) -> std::optional<std::string> {
                                 const auto found = set.find(name);
                                 if (found == set.end()) return std::nullopt;
                                 return found->second;
                             });
}

values with_endpoint(values more = {}) {
    more.try_emplace("endpoint", std::string("http://localhost:4318/"));
    return more;
}

TEST(otlp_settings, are_off_unless_a_collector_is_named) {
    EXPECT_FALSE(read({})->is_on());
    EXPECT_FALSE(read({}, {{"OTEL_SERVICE_NAME", "x"}})->is_on());
    const auto on = read(with_endpoint());
    EXPECT_EQ(on->traces_url, "http://localhost:4318/v1/traces");
    EXPECT_EQ(on->metrics_url, "http://localhost:4318/v1/metrics");
    EXPECT_EQ(on->tracing.spans_max, 2048U);
    EXPECT_EQ(on->batch_spans, 512U);
    EXPECT_EQ(on->delay, 5s);
    EXPECT_EQ(on->interval, 60s);
    EXPECT_EQ(on->timeout, 10s);
    EXPECT_EQ(name_of(on->tracing.how), "parentbased_always_on");
    EXPECT_TRUE(on->warnings.empty());
}

TEST(otlp_settings, follow_the_variables_of_opentelemetry) {
    const auto seen = read({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example/base/"},
                                {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m.example/x"},
                                {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1"},
                                {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
                                {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"},
                                {"OTEL_BSP_EXPORT_TIMEOUT", "30000"},
                                {"OTEL_SERVICE_NAME", "shop"},
                                {"OTEL_RESOURCE_ATTRIBUTES", "service.name=no,team=a%2Cb"},
                                {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                {"OTEL_TRACES_SAMPLER_ARG", "0.25"},
                                {"OTEL_BSP_SCHEDULE_DELAY", "100"},
                                {"OTEL_BSP_MAX_QUEUE_SIZE", "10"},
                                {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "20"},
                                {"OTEL_METRIC_EXPORT_INTERVAL", "1000"}});
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->traces_url, "https://c.example/base/v1/traces");
    EXPECT_EQ(seen->metrics_url, "http://m.example/x");
    EXPECT_EQ(seen->headers.find("api-key"), "a b");
    EXPECT_EQ(seen->headers.find("x"), "1");
    EXPECT_EQ(seen->timeout, 2500ms);
    EXPECT_TRUE(seen->gzip);
    EXPECT_EQ(seen->certificate, "/etc/ca.pem");
    EXPECT_THAT(seen->resource, ElementsAre(Pair("team", "a,b"), Pair("service.name", "shop")));
    EXPECT_EQ(seen->tracing.how,
              (sampler{.of_roots = sampler::kind::ratio, .heeds_parent = false, .ratio = 0.25}));
    EXPECT_EQ(seen->delay, 100ms);
    EXPECT_EQ(seen->tracing.spans_max, 10U);
    EXPECT_EQ(seen->batch_spans, 10U) << "a batch is no larger than what is held";
    EXPECT_EQ(seen->interval, 1s);
    EXPECT_TRUE(seen->warnings.empty());
}

TEST(otlp_settings, of_the_section_come_before_the_variables) {
    const auto seen = read(with_endpoint({{"compression", std::string("none")},
                                          {"timeout", feature_value(1500ms)},
                                          {"service_name", std::string("mine")},
                                          {"ratio", 0.5},
                                          {"batch", std::int64_t{7}},
                                          {"metrics", false}}),
                           {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:1"},
                            {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
                            {"OTEL_EXPORTER_OTLP_TIMEOUT", "9"},
                            {"OTEL_SERVICE_NAME", "theirs"},
                            {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "9"}});
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->traces_url, "http://localhost:4318/v1/traces");
    EXPECT_EQ(seen->metrics_url, "");
    EXPECT_FALSE(seen->gzip);
    EXPECT_EQ(seen->timeout, 1500ms);
    EXPECT_THAT(seen->resource, ElementsAre(Pair("service.name", "mine")));
    EXPECT_EQ(seen->batch_spans, 7U);
    EXPECT_EQ(name_of(seen->tracing.how), "parentbased_traceidratio");
    EXPECT_EQ(seen->tracing.how.ratio, 0.5);
}

TEST(otlp_settings, can_be_switched_off_by_variables) {
    EXPECT_FALSE(read(with_endpoint(), {{"OTEL_SDK_DISABLED", "true"}})->is_on());
    EXPECT_TRUE(read(with_endpoint(), {{"OTEL_SDK_DISABLED", "false"}})->is_on());
    const auto metrics_only = read(with_endpoint(), {{"OTEL_TRACES_EXPORTER", "none"}});
    EXPECT_EQ(metrics_only->traces_url, "");
    EXPECT_NE(metrics_only->metrics_url, "");
}

TEST(otlp_settings, name_a_variable_that_cannot_be_used_and_go_on) {
    const variables bad{
        {"OTEL_EXPORTER_OTLP_HEADERS", "no sign"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
        {"OTEL_EXPORTER_OTLP_COMPRESSION", "zip"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
        {"OTEL_RESOURCE_ATTRIBUTES", "%zz=1,x"},   {"OTEL_TRACES_SAMPLER", "sometimes"},
        {"OTEL_TRACES_SAMPLER_ARG", "2"},          {"OTEL_BSP_SCHEDULE_DELAY", "-1"},
        {"OTEL_BSP_MAX_QUEUE_SIZE", "many"},       {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0"},
        {"OTEL_METRIC_EXPORT_INTERVAL", ""},       {"OTEL_METRICS_EXPORTER", "prometheus"}};
    const auto seen = read({{"endpoint", std::string("http://localhost:4318")}}, bad);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->timeout, 10s);
    for (const auto& [name, value] : bad)
        EXPECT_THAT(seen->warnings, testing::Contains(HasSubstr(name))) << value;
    for (const auto& each : seen->warnings) EXPECT_THAT(each, testing::Not(HasSubstr("no sign")));
    const auto no_url = read({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"}});
    EXPECT_FALSE(no_url->is_on());
    EXPECT_THAT(no_url->warnings, testing::Contains(HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT")));
}

TEST(otlp_settings, refuse_a_value_of_the_section_that_cannot_be_used) {
    const auto refused = [](std::string key, feature_value value) {
        auto said = with_endpoint();
        said.insert_or_assign(std::move(key), std::move(value));
        const auto seen = read(std::move(said));
        return seen ? std::string("taken") : std::string(seen.error().what());
    };
    EXPECT_THAT(refused("endpoint", std::string("localhost:4318")), HasSubstr("otlp.endpoint is"));
    EXPECT_THAT(refused("endpoint", "http://u:" + std::string(80, 's') + "@localhost:4318"),
                testing::AllOf(HasSubstr("otlp.endpoint is"), testing::Not(HasSubstr("sss"))));
    EXPECT_THAT(refused("headers", std::string("api-key=secret")),
                testing::AllOf(HasSubstr("otlp.headers"), testing::Not(HasSubstr("secret"))));
    EXPECT_THAT(refused("compression", std::string("zip")), HasSubstr("otlp.compression"));
    EXPECT_THAT(refused("sampler", std::string("sometimes")), HasSubstr("otlp.sampler"));
    EXPECT_THAT(refused("ratio", 1.5), HasSubstr("otlp.ratio"));
    EXPECT_THAT(refused("profile", std::string("other")), HasSubstr("otlp.profile"));
    EXPECT_THAT(refused("resource", std::string("x")), HasSubstr("otlp.resource"));
    EXPECT_THAT(refused("spans_held", std::int64_t{-1}), HasSubstr("otlp.spans_held"));
    EXPECT_THAT(refused("batch", std::int64_t{2'000'000}), HasSubstr("otlp.batch"));
    EXPECT_THAT(refused("delay", feature_value(-1ms)), HasSubstr("otlp.delay"));
    EXPECT_THAT(refused("stop_limit", feature_value(-1ms)), HasSubstr("otlp.stop_limit"));
}

}  // namespace
}  // namespace posthorn
