#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "app/config/watchdog_options.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/node_service.hpp"
#include "store/store.hpp"

namespace posthorn {

enum class unit_state : std::uint8_t { fine, stuck, hopeless };

/// What to think of a unit that has been running for so long. Its SQL would have been interrupted
/// long before: it hangs in C++.
[[nodiscard]] unit_state judge_unit(std::chrono::nanoseconds age, const watchdog_options& options);

/// Watches the one thread that everything durable depends on.
///
/// A store that has failed stays so, and a unit that never ends blocks every send and every
/// handler, and cannot be killed inside the process. So health turns red, and then the node stops,
/// so that a supervisor starts it anew: nothing committed is lost by that.
///
/// Lifetime: `run()` once; the store outlives it.
/// Threads:  `run()` on one; `is_stuck` from any.
/// Cancel:   `run()` returns.
class watchdog final : public node_service {
public:
    watchdog(const store& watched, timer& sleeper, logger& log, watchdog_options options,
             std::function<void(const std::string& why)> fail_stop);

    [[nodiscard]] std::string_view name() const noexcept override { return "watchdog"; }
    task<> run() override;
    [[nodiscard]] bool is_stuck() const noexcept { return stuck_; }

private:
    void fail_stop(const std::string& why);

    const store& watched_;
    timer& sleeper_;
    logger& log_;
    watchdog_options options_;
    std::function<void(const std::string& why)> fail_stop_;
    std::atomic<bool> stuck_ = false;
};

}  // namespace posthorn
