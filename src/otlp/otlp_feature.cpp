#include "otlp/otlp_feature.hpp"

#include <array>
#include <memory>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <posthorn/version.hpp>

#include "base/text/http_url.hpp"
#include "feature/answers.hpp"
#include "feature/metrics_source.hpp"
#include "feature/node_builder.hpp"
#include "message/message_span.hpp"
#include "otlp/metric_exporter.hpp"
#include "otlp/otlp_settings.hpp"
#include "otlp/span_exporter.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::array otlp_commands{
    feature_command{.name = "status",
                    .summary = "say where traces and metrics go, and how that works",
                    .method = "GET",
                    .path = "/_rf/otlp",
                    .example = "posthorn otlp status"},
};

/// Ends the spans of what was published, once it is committed.
class publish_listener final : public commit_listener {
public:
    explicit publish_listener(tracer& traces) : traces_(traces) {}

    void committed(std::span<const outbox_row> enqueued) override {
        for (const auto& row : enqueued) end_publish_span(traces_, row.body);
    }

private:
    tracer& traces_;
};

/// What runs in a node that tells of itself; all of it null in one that does not.
struct telling {
    otlp_options options{};
    std::unique_ptr<collector> to{};
    metrics_source source{};
    tracer* traces = nullptr;
    span_exporter* spans = nullptr;
    metric_exporter* metrics = nullptr;

    task<> end() {
        std::vector<task<>> last;
        if (spans != nullptr) last.push_back(spans->flush());
        if (metrics != nullptr) last.push_back(metrics->flush());
        co_await run_all(std::move(last));
        co_await to->close();
    }
};

/// A path or a query may hold a key.
json::value shown(const std::string& url) {
    const auto parsed = parse_http_url(url);
    if (!parsed) return nullptr;
    return json::string(origin(*parsed));
}

task<http_response> answer_status(const telling& of) {
    json::object seen{{"on", of.options.is_on()},
                      {"traces", shown(of.options.traces_url)},
                      {"metrics", shown(of.options.metrics_url)}};
    json::array warnings;
    for (const auto& each : of.options.warnings) warnings.emplace_back(each);
    seen["warnings"] = std::move(warnings);
    if (of.options.is_on()) seen["sampler"] = name_of(of.options.tracing.how);
    if (of.to) {
        auto& counts = of.to->counts();
        seen["spansExported"] = counts.spans.load();
        seen["spansRejected"] = counts.spans_rejected.load();
        seen["spansLost"] = counts.spans_lost.load();
        seen["metricsExported"] = counts.metrics.load();
        seen["failures"] = counts.failures.load();
        if (of.traces != nullptr) {
            seen["spansWaiting"] = of.traces->ring().size();
            seen["spansDropped"] = of.traces->ring().dropped();
        }
        if (auto why = of.to->trouble(); !why.empty()) seen["trouble"] = std::move(why);
    }
    co_return json_response(200, json::serialize(seen));
}

void write_metrics(prometheus_text& text, const telling& of) {
    const auto& counts = of.to->counts();
    text.counter("posthorn_otlp_spans_exported_total", "Spans that the collector took.",
                 counts.spans);
    text.counter("posthorn_otlp_spans_rejected_total",
                 "Spans that the collector rejected of what it took.", counts.spans_rejected);
    text.counter("posthorn_otlp_spans_lost_total", "Spans that were sent in vain and given up.",
                 counts.spans_lost);
    if (of.traces != nullptr) {
        text.counter("posthorn_otlp_spans_dropped_total",
                     "Spans that were dropped since too many waited.", of.traces->ring().dropped());
        text.gauge("posthorn_otlp_spans_waiting", "Spans that wait for the collector.",
                   static_cast<double>(of.traces->ring().size()));
    }
    text.counter("posthorn_otlp_metrics_exported_total",
                 "Times that the collector took the metrics.", counts.metrics);
    text.counter("posthorn_otlp_failures_total", "Requests that the collector did not take.",
                 counts.failures);
}

void complete_resource(telemetry_resource& resource, const node_builder& of) {
    const auto add = [&](std::string_view key, std::string_view value) {
        for (const auto& each : resource)
            if (each.first == key) return;
        if (!value.empty()) resource.emplace_back(key, value);
    };
    add("service.name", of.maker().defaults().source);
    add("service.instance.id", of.node());
    add("telemetry.sdk.name", "posthorn");
    add("telemetry.sdk.language", "cpp");
    add("telemetry.sdk.version", version);
}

result<> switch_on(telling& what, node_builder& into) {
    const auto& env = into.env();
    complete_resource(what.options.resource, into);
    auto made = collector::make(env, what.options);
    if (!made)
        return fail(error_code::invalid_configuration, "otlp.certificate: {}", made.error().what());
    what.to = *std::move(made);
    if (!what.options.traces_url.empty()) {
        auto exporter = std::make_unique<span_exporter>(env, *env.traces, *what.to, what.options);
        what.traces = env.traces;
        what.spans = exporter.get();
        env.traces->switch_on(what.options.tracing, [&to = *exporter] { to.wake(); });
        into.listen(into.make<publish_listener>(*env.traces));
        into.run(std::move(exporter));
    }
    if (!what.options.metrics_url.empty()) {
        into.show(what.source);
        what.metrics =
            &into.run(std::make_unique<metric_exporter>(env, what.source, *what.to, what.options));
    }
    into.metrics([&what](prometheus_text& text) { write_metrics(text, what); });
    into.at_end([&what] { return what.end(); });
    return {};
}

class otlp final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "otlp"; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return otlp_keys();
    }
    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& /*limits*/) const override {
        auto read = read_otlp_options(said, process_variables());
        if (read) return {};
        const std::string why = read.error().what();
        for (const auto& key : otlp_keys())
            if (why.starts_with(fmt::format("otlp.{} ", key.name)) ||
                why.starts_with(fmt::format("otlp.{}:", key.name)))
                return {{key.name, read.error()}};
        return {{"endpoint", read.error()}};
    }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "look at the export of traces and metrics";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return otlp_commands;
    }

    result<> install(node_builder& into) const override {
        POSTHORN_LET(options, read_otlp_options(into.settings(), process_variables()));
        auto& what = into.make<telling>();
        what.options = std::move(options);
        const bool runs = !into.outbox().empty() && into.env().traces != nullptr;
        if (runs)
            for (const auto& each : what.options.warnings)
                into.env().log.warn("Telemetry: {Warning}", {{"Warning", each}});
        if (runs && what.options.is_on()) POSTHORN_TRY(switch_on(what, into));
        into.add(admin_route{
            "GET",
            "/_rf/otlp",
            admin_role::viewer,
            {.summary = "Where traces and metrics go, and how that works.",
             .answer = "{on: boolean, traces: string | null,"
                       " metrics: string | null, warnings: [string],"
                       " sampler?: string, spansExported?: integer,"
                       " spansRejected?: integer, spansLost?: integer,"
                       " spansDropped?: integer, spansWaiting?: integer,"
                       " metricsExported?: integer, failures?: integer,"
                       " trouble?: string}"},
            [&what](const http_request&, const admin_caller&) { return answer_status(what); }});
        return {};
    }
};

}  // namespace

const feature& otlp_feature() noexcept {
    static const otlp one;
    return one;
}

}  // namespace posthorn
