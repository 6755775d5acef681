#pragma once

#include <deque>
#include <vector>

#include "base/async/bell.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "otlp/collector.hpp"

namespace posthorn {

/// Takes spans from the ring and brings them to the collector, so many at a time. While that is slow
/// or gone, the ring fills, and what does not fit is dropped there.
///
/// Lifetime: `run()` once, then `flush()`; what it is given outlives it.
/// Threads:  the network executor; `wake` from any.
/// Cancel:   `run()` returns and keeps what it had in hand for `flush`, which ends by itself.
class span_exporter final : public node_service {
public:
    span_exporter(const environment& env, tracer& traces, collector& to, otlp_options options);

    [[nodiscard]] std::string_view name() const noexcept override { return "span exporter"; }
    task<> run() override;
    void wake() { enough_.ring(); }
    /// Sends what is left, each batch once, for as long as a stop may wait; the rest is lost.
    task<> flush();

private:
    enum class patience : std::uint8_t { some, none };

    /// Until nothing is left, or it was cancelled.
    task<> send_all(patience how);
    /// The first of what is in hand; false if it was cancelled.
    task<bool> send_first(patience how);
    void lose_first(const std::string& why);
    void halve_first();
    task<result<>> send_last();

    const environment& env_;
    tracer& traces_;
    collector& to_;
    otlp_options options_;
    bell enough_;
    std::deque<std::vector<trace_span>> in_hand_;
    std::size_t in_vain_ = 0;  // Tries of the first of them.
};

}  // namespace posthorn
