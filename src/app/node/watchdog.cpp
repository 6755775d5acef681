#include "app/node/watchdog.hpp"

#include <utility>

namespace posthorn {

unit_state judge_unit(std::chrono::nanoseconds age, const watchdog_options& options) {
    if (age >= options.stop_after) return unit_state::hopeless;
    return age >= options.red_after ? unit_state::stuck : unit_state::fine;
}

watchdog::watchdog(const store& watched, timer& sleeper, logger& log, watchdog_options options,
                   std::function<void(const std::string& why)> fail_stop)
    : watched_(watched),
      sleeper_(sleeper),
      log_(log),
      options_(options),
      fail_stop_(std::move(fail_stop)) {}

task<> watchdog::run() {
    while (co_await sleeper_.sleep_for(options_.look_interval)) {
        if (watched_.has_failed()) {
            stuck_ = true;
            co_return fail_stop("a commit is in doubt, and what is on disk shows after a restart");
        }
        const auto age = watched_.unit_age();
        const auto state = judge_unit(age, options_);
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(age);
        if (state != unit_state::fine && !stuck_.exchange(true))
            log_.error(
                "Store: a handler or transaction has been running for {Age}; others may wait "
                "for it",
                {{"Age", ms}});
        if (state == unit_state::fine) stuck_ = false;
        if (state != unit_state::hopeless) continue;
        co_return fail_stop(
            fmt::format("a handler or transaction has been stuck for {} ms", ms.count()));
    }
}

// The last words are ours: `fail_stop_` may tell no one, and does not return.
void watchdog::fail_stop(const std::string& why) {
    log_.error("Node: stops at once, to be started anew: {Reason}", {{"Reason", why}});
    fail_stop_(why);
}

}  // namespace posthorn
