#include "otlp/metric_exporter.hpp"

#include <exception>
#include <string>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/with_timeout.hpp"
#include "otlp/export_rules.hpp"
#include "otlp/metric_encoder.hpp"
#include "otlp/outboxnet_metrics.hpp"

namespace posthorn {

metric_exporter::metric_exporter(const environment& env, const metrics_source& from, collector& to,
                                 otlp_options options)
    : env_(env), from_(from), to_(to), options_(std::move(options)), since_ns_(now_ns()) {}

std::int64_t metric_exporter::now_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               env_.clock.wall().time_since_epoch())
        .count();
}

task<> metric_exporter::run() {
    while (co_await env_.timer.sleep_for(options_.interval)) static_cast<void>(co_await send());
}

task<result<>> metric_exporter::send() {
    if (!from_.read) co_return result<>{};
    std::string text;
    try {
        text = co_await from_.read();
    } catch (const std::exception& failure) {  // There is a next time.
        to_.note_failure(failure.what());
        co_return result<>{};
    }
    auto metrics = without_outboxnet(read_prometheus(text));
    if (options_.profile == telemetry_profile::outboxnet) metrics = as_outboxnet(metrics);
    const auto answer = co_await to_.post(
        options_.metrics_url,
        encode_metrics(options_.resource, metrics, {.since_ns = since_ns_, .at_ns = now_ns()},
                       options_.profile));
    if (co_await is_cancelled()) co_return cancelled();
    const auto seen = judge_export(answer);
    if (seen.what == export_verdict::kind::taken) {
        ++to_.counts().metrics;
        seen.rejected > 0 ? to_.note_failure(seen.why) : to_.note_success();
    } else {
        to_.note_failure(seen.why);
    }
    co_return result<>{};
}

task<> metric_exporter::flush() {
    static_cast<void>(co_await with_timeout(env_.timer, options_.stop_limit, send()));
}

}  // namespace posthorn
