#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/async/executor.hpp"
#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "lease/shared_job.hpp"
#include "outbox/dispatch/hand_over.hpp"
#include "outbox/dispatch/seat_reaper.hpp"
#include "outbox/dispatch/sweeper.hpp"
#include "outbox/lane/claims.hpp"
#include "outbox/lane/lane_set.hpp"
#include "outbox/upkeep/dead_expiry.hpp"
#include "outbox/upkeep/dead_letter_notifier.hpp"
#include "outbox/upkeep/expiry_scan.hpp"
#include "outbox/upkeep/order_keeper.hpp"

namespace posthorn {

/// What the dispatcher is built from. All of it outlives the dispatcher.
struct dispatcher_deps {
    const environment& env;
    class store& store;
    route_table& routes;
    final_row_listener* ended = nullptr;  // Told of messages that were given up, if there is one.
};

/// One holding of the dispatcher's lease: hot path, cold path, lanes and settler under one epoch.
///
/// Lifetime: `run()` once, destroyed after it returned; what it is given outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   `stop()`: takes nothing new, lets batches in flight end for the drain time, records
///           their outcomes. `cut_off()`: the epoch is over, so answers to come are dropped.
///           `run()` itself heeds no cancellation.
class tenure {
public:
    /// What outlives one tenure.
    struct deps {
        const dispatcher_deps& with;
        const outbox_options& options;
        const retry_policy& retries;
        outbox_counters& counters;
        hand_over& hot;
        bell& hot_arrivals;
        sync_guard& guard;
        clock_guard& clocks;
        sweep_call& sweep;
        sweep_board& board;
        round_call& rounds;
        const std::function<bool(const std::string& owner)>& owner_is_gone;
        std::function<void(std::int64_t epoch)> refused;
        boost::asio::any_io_executor where;
    };

    tenure(const deps& around, std::int64_t epoch);

    task<> run();
    void stop();
    void cut_off();
    void routes_changed();
    void try_now(std::string_view destination);
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

private:
    task<> take_hot_rows();
    task<> drain();
    /// What one dispatcher does for all: order keys, and dead messages whose time is over.
    task<> look_after_all();
    [[nodiscard]] bool batches_in_flight();
    lane_deps make_lane_deps();
    sweeper::deps make_sweeper_deps();

    deps around_;
    std::int64_t epoch_;
    agenda agenda_;
    bell ending_;
    bell batch_ended_;
    claims claims_;
    dead_letter_notifier teller_;
    settler settler_;
    task_group batches_;
    lane_set lanes_;
    sweeper sweeper_;
    order_keeper order_;
    expiry_scan expiry_;
    dead_expiry dead_expiry_;
    seat_reaper seats_;
    shared_job health_;  // Where several dispatch, the holder of its lease looks after all.
    bool is_cut_off_ = false;
};

}  // namespace posthorn
