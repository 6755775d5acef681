#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock.hpp"
#include "lease/dispatch_lease.hpp"
#include "outbox/rules/outbox_options.hpp"
#include "store/claim_table.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Takes away the seats of other dispatchers that have died or fallen silent, so that what they had
/// claimed is free. That charges no attempt; what they still want to write is refused.
///
/// Lifetime: `run()` once; everything given outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   `run()` returns after the commit under way.
class seat_reaper {
public:
    struct deps {
        const environment& env;
        store& where;
        /// Whether the process of an owner is known to be dead. Empty: never known.
        const std::function<bool(const std::string& owner)>& owner_is_gone;
        /// Called when a dispatcher is gone, whatever the cause: there may be something to claim,
        /// and to finish.
        std::function<void()> freed;
    };

    seat_reaper(deps with, const lease_options& options)
        : with_(std::move(with)), options_(options) {}

    task<> run();

private:
    task<result<>> look();
    /// The seats whose dispatchers are gone.
    std::vector<seat> silent(const std::vector<seat>& seats);
    /// Whether one that was seen before is not among them.
    [[nodiscard]] bool is_one_gone(const std::vector<seat>& seats) const;

    deps with_;
    const lease_options& options_;
    std::map<std::string, lease_state, std::less<>> seen_;  // By the name of the seat.
};

}  // namespace posthorn
