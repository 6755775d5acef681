#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "outbox/dispatch/round_call.hpp"
#include "outbox/dispatch/sweep_board.hpp"
#include "outbox/dispatch/sync_guard.hpp"
#include "outbox/lane/lane_set.hpp"
#include "outbox/rules/agenda.hpp"
#include "store/store.hpp"

namespace posthorn {

/// The cold path: finds due messages in the table that are not in memory. Retries, what was there
/// at the start, what overflowed, and what other processes wrote, all come this way.
///
/// It looks everywhere when it starts, when it is called, and every poll interval; a lane that has
/// room again, or a message that falls due, has it look for their destination alone. So what it
/// costs follows what is due, however many destinations wait.
///
/// Where messages are taken up in rounds, it looks when one is asked for, and then for so many.
///
/// Lifetime: `run()` once; everything given outlives it.
/// Threads:  the dispatcher's strand; it reads on `readers`.
/// Cancel:   `run()` returns after the read or barrier under way.
class sweeper {
public:
    struct deps {
        const environment& env;
        store& where;
        clock_guard& clocks;
        sync_guard& guard;
        class claims& claims;
        lane_set& lanes;
        class agenda& agenda;
        sweep_call& call;
        outbox_counters& counters;
        sweep_board& board;
        round_call& rounds;
        const outbox_options& options;
    };

    explicit sweeper(deps with) : with_(with) {}

    task<> run();

private:
    /// What was read for one destination, before it is known to be past a sync.
    struct found {
        lane* to;
        outbox_page page;
        bool store_has_more;
        steady_time begun;
        std::int64_t begun_ns;  // Of its span, if it is traced.
    };

    task<> run_rounds();
    /// Gives how many it took up.
    task<result<std::size_t>> take_round(std::size_t rows_max);
    /// Until nothing of a round is in memory any more.
    task<> end_round();
    void note(const result<>& swept, bool everywhere);
    void note_odd(const std::string& odd);
    void watch_clock();
    /// Until there is something to do, which it gives.
    task<sweep_scope> rest();
    task<result<>> sweep(sweep_scope where);
    /// Where something is due, and what else has to be known before it is read.
    task<result<std::vector<std::string>>> look_everywhere(wall_time now);
    task<result<>> take_in();
    task<result<>> read_destination(const std::string& destination, wall_time now,
                                    std::size_t rows_max = std::numeric_limits<std::size_t>::max());
    void count_batch(steady_time begun, std::size_t rows);
    task<result<>> find_due(due_question asked, outbox_page& into);
    task<result<>> hand_over_found(wall_time now);

    deps with_;
    std::vector<found> found_;
    std::size_t rows_found_ = 0;
    std::size_t bytes_found_ = 0;
    steady_time poll_at_{};
    bool told_of_jump_ = false;
};

}  // namespace posthorn
