#include "base/trace/tracer.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "base/assert.hpp"

namespace posthorn {
namespace {

std::int64_t since_boot_ns(const class clock& time) {
    return time.steady().time_since_epoch().count();
}

std::int64_t wall_ns(const class clock& time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.wall().time_since_epoch())
        .count();
}

}  // namespace

void tracer::switch_on(tracer_options options, std::function<void()> wake) {
    POSTHORN_ASSERT(!is_on());
    options_ = options;
    wake_ = std::move(wake);
    ring_ = std::make_unique<span_ring>(options.spans_max);
    awaited_ = std::make_unique<awaited_commits>();
    follow_clock();
    on_.store(true, std::memory_order_release);
}

span_id tracer::next_span() {
    for (;;)
        if (const span_id drawn{random_.next()}) return drawn;
}

span_context tracer::begin(const span_context* parent) {
    span_context made{.flags = 0};
    if (parent != nullptr) {
        if (!options_.how.samples(parent->trace, parent)) {
            made = *parent;
            made.flags &= static_cast<std::uint8_t>(~span_context::sampled_flag);
            return made;
        }
        made.trace = parent->trace;
        made.flags = parent->flags | span_context::sampled_flag;
    } else {
        while (!made.trace) made.trace = {random_.next(), random_.next()};
        if (options_.how.samples(made.trace, nullptr)) made.flags = span_context::sampled_flag;
    }
    made.span = next_span();
    return made;
}

span_context tracer::first_of(const uuid& id) const {
    std::array<std::uint64_t, 2> words{};
    for (std::size_t i = 0; i < id.bytes().size(); ++i)
        words[i / 8] = words[i / 8] << 8U | id.bytes()[i];
    span_context made{.trace = {words[0], words[1]}, .span = {words[0] ^ words[1]}};
    if (!made.span) made.span.value = 1;
    if (!made.trace) made.trace.low = 1;
    if (options_.how.samples(made.trace, nullptr)) made.flags = span_context::sampled_flag;
    return made;
}

std::int64_t tracer::now_ns() const {
    return since_boot_ns(time_) + ahead_ns_.load(std::memory_order_relaxed);
}

// The wall clock tells whole milliseconds, and spans of one process are to be told apart: as long as
// both agree to two of them, the steady clock goes on.
void tracer::follow_clock() {
    constexpr std::int64_t tolerated_ns = 2'000'000;
    const auto ahead = wall_ns(time_) - since_boot_ns(time_);
    const auto off = ahead - ahead_ns_.load(std::memory_order_relaxed);
    if (off < -tolerated_ns || off > tolerated_ns)
        ahead_ns_.store(ahead, std::memory_order_relaxed);
}

bool tracer::has_room() const {
    if (ring_->has_room()) return true;
    ring_->drop();
    return false;
}

void tracer::add(trace_span&& one) {
    if (ring_->add(std::move(one)) == options_.wake_at && wake_) wake_();
}

}  // namespace posthorn
