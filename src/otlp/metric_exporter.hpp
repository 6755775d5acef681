#pragma once

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "feature/metrics_source.hpp"
#include "otlp/collector.hpp"

namespace posthorn {

/// Brings what `/metrics` says to the collector now and then. What does not arrive is not sent
/// again: the next has all of it, since every number counts from the start.
///
/// Lifetime: `run()` once, then `flush()`; what it is given outlives it.
/// Threads:  the network executor.
/// Cancel:   `run()` returns.
class metric_exporter final : public node_service {
public:
    metric_exporter(const environment& env, const metrics_source& from, collector& to,
                    otlp_options options);

    [[nodiscard]] std::string_view name() const noexcept override { return "metric exporter"; }
    task<> run() override;
    /// Once more, for as long as a stop may wait.
    task<> flush();

private:
    task<result<>> send();
    [[nodiscard]] std::int64_t now_ns() const;

    const environment& env_;
    const metrics_source& from_;
    collector& to_;
    otlp_options options_;
    std::int64_t since_ns_;
};

}  // namespace posthorn
