#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/trace/awaited_commits.hpp"
#include "base/trace/sampler.hpp"
#include "base/trace/span_ring.hpp"

namespace posthorn {

struct tracer_options {
    sampler how{};
    std::size_t spans_max = 2048;  // Held at most; the rest is dropped and counted.
    std::size_t wake_at = 512;     // So many wait: they are worth a request.
};

/// Where the spans of a node begin and end. While it is off, nothing but `is_on` is asked.
///
/// Lifetime: outlives everything that makes spans; switched on once at most, before the node starts.
/// Threads:  any.
class tracer {
public:
    tracer(const class clock& time, random_source& random) : time_(time), random_(random) {}
    tracer(const tracer&) = delete;
    tracer& operator=(const tracer&) = delete;

    /// `wake` is called from any thread, when spans are worth a request. It must not block.
    void switch_on(tracer_options options, std::function<void()> wake);
    [[nodiscard]] bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }

    // The rest only while it is on.

    /// A new span of the parent's trace, or of a new one without a parent. One that is not to be
    /// recorded and has a parent is the parent itself: then the trace goes on as it came.
    [[nodiscard]] span_context begin(const span_context* parent);
    /// The first span of a trace that follows from an id, on every node the same.
    [[nodiscard]] span_context first_of(const uuid& id) const;
    [[nodiscard]] span_id next_span();
    /// Nanoseconds since 1970. Does not go back, and follows the wall clock after `follow_clock`.
    [[nodiscard]] std::int64_t now_ns() const;
    void follow_clock();

    /// Whether a span is worth being made; counts it as dropped if not.
    [[nodiscard]] bool has_room() const;
    void add(trace_span&& one);
    [[nodiscard]] awaited_commits& awaited() noexcept { return *awaited_; }
    [[nodiscard]] span_ring& ring() noexcept { return *ring_; }

private:
    const class clock& time_;
    random_source& random_;
    tracer_options options_{};
    std::function<void()> wake_;
    std::unique_ptr<span_ring> ring_;
    std::unique_ptr<awaited_commits> awaited_;
    std::atomic<std::int64_t> ahead_ns_ = 0;  // Of the wall clock to the steady one.
    std::atomic<bool> on_ = false;
};

/// Null where nothing is traced.
[[nodiscard]] inline tracer* tracing(tracer* one) noexcept {
    return one != nullptr && one->is_on() ? one : nullptr;
}

}  // namespace posthorn
