#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "base/time/clock.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Runs the work of units, whatever they throw, and tells how long the present one has run.
///
/// Threads: the writer's, but for `age`.
class unit_run {
public:
    explicit unit_run(const clock& time) : time_(time) {}

    /// `now` is when it begins.
    result<> operator()(unit& one, store_transaction& transaction, steady_time now);
    /// Zero while none runs.
    [[nodiscard]] std::chrono::nanoseconds age() const;

private:
    const clock& time_;
    std::atomic<std::int64_t> started_ns_ = 0;
};

/// Calls `look`, and makes an error of what it throws.
result<> look_safely(const std::function<result<>(store_reader&)>& look, store_reader& at);

}  // namespace posthorn
