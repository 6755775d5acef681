#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/trace/trace_span.hpp"

namespace posthorn {

/// Spans on their way out: as many as fit, and a count of the others.
///
/// Threads: any. Its lock is held to move a span, never to wait for anything.
class span_ring {
public:
    explicit span_ring(std::size_t spans_max) : spans_max_(spans_max) {}

    /// Whether making a span is worth it. One that is not made for want of room is to be counted
    /// with `drop`.
    [[nodiscard]] bool has_room() const noexcept {
        return size_.load(std::memory_order_relaxed) < spans_max_;
    }
    /// How many it holds now; zero if it was dropped for want of room.
    std::size_t add(trace_span&& one) {
        const std::scoped_lock lock(mutex_);
        if (held_.size() >= spans_max_) {
            drop();
            return 0;
        }
        held_.push_back(std::move(one));
        size_.store(held_.size(), std::memory_order_relaxed);
        return held_.size();
    }
    void drop(std::uint64_t spans = 1) noexcept {
        dropped_.fetch_add(spans, std::memory_order_relaxed);
    }
    /// The oldest.
    [[nodiscard]] std::vector<trace_span> take(std::size_t spans_max) {
        std::vector<trace_span> taken;
        const std::scoped_lock lock(mutex_);
        while (!held_.empty() && taken.size() < spans_max) {
            taken.push_back(std::move(held_.front()));
            held_.pop_front();
        }
        size_.store(held_.size(), std::memory_order_relaxed);
        return taken;
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t dropped() const noexcept {
        return dropped_.load(std::memory_order_relaxed);
    }

private:
    const std::size_t spans_max_;
    std::mutex mutex_;
    std::deque<trace_span> held_;
    std::atomic<std::size_t> size_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace posthorn
