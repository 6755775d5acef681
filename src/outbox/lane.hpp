#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/bell.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/task_group.hpp"
#include "outbox/agenda.hpp"
#include "outbox/held_rows.hpp"
#include "outbox/judge.hpp"
#include "outbox/outbox_counters.hpp"
#include "outbox/route_table.hpp"
#include "outbox/settler.hpp"
#include "outbox/sweep_call.hpp"

namespace posthorn {

/// What every lane uses; all of it outlives the lanes.
struct lane_services {
    class clock& clock;
    clock_guard& clocks;
    class timer& timer;
    random_source& random;
    logger& log;
    route_table& routes;
    outbox_counters& counters;
    const retry_policy& retries;
    const outbox_options& options;
    class settler& settler;
    class agenda& agenda;
    task_group& batches;  // In which attempts run.
    sweep_call& sweep;
    bell& batch_ended;
};

/// Moves messages of one destination onto the wire, each at least once, several batches at a time.
///
/// Lifetime: destroyed only when `is_empty()`, or after the task group of its batches has joined.
/// Threads:  the dispatcher's strand.
/// Cancel:   `close()` takes nothing new; a batch whose coroutine is cancelled settles only what
///           its transport knows to be delivered, and leaves the rest pending and uncharged.
class lane final : public settle_listener {
public:
    enum class offered : std::uint8_t { taken, known, full };

    lane(std::string destination, lane_services with);

    /// `full` leaves the row to the cold path, which is asked for once there is room.
    offered offer(outbox_row row);
    /// Starts what can be started of what was offered.
    void pump();
    /// Records that rows are no messages; those already here are passed over.
    void bury(std::span<const bad_row> rows, wall_time now);
    /// Puts a row off until its own time, without an attempt.
    void postpone(const outbox_row& row, wall_time now);

    /// The cold path's read: how many rows to ask for, none if there is no room.
    [[nodiscard]] std::size_t begin_read();
    void end_read(bool store_has_more);
    [[nodiscard]] bool knows(std::int64_t seq) const { return held_.knows(seq); }

    void close();
    /// From now on nothing is recorded: the answers belong to an old epoch.
    void abandon() { abandoned_ = true; }

    [[nodiscard]] bool is_empty() const { return held_.size() == 0 && in_flight_ == 0; }
    [[nodiscard]] bool is_idle() const;
    [[nodiscard]] std::size_t batches_in_flight() const noexcept { return in_flight_; }

    void settled(std::span<const settlement> outcomes) override;

private:
    std::vector<outbox_row> next_batch();
    task<> deliver(std::vector<outbox_row> rows);
    task<std::vector<delivery>> attempt(const std::vector<outbox_row>& rows);
    void keep_good_news(std::vector<outbox_row>& rows, std::vector<delivery>& answers);
    void record(std::vector<outbox_row> rows, std::vector<delivery> answers,
                std::chrono::nanoseconds took);
    void count(decision::kind what, std::int32_t attempts);
    void leave_in_doubt(const outbox_row& row);
    void raise_alarm(const std::vector<settlement>& held_back);
    void forget(const std::vector<outbox_row>& rows);
    void ask_for_more();
    [[nodiscard]] bool is_resting() const;

    std::string destination_;
    lane_services with_;
    std::deque<outbox_row> queue_;
    held_rows held_;
    std::size_t in_flight_ = 0;
    bool store_has_more_ = false;
    bool closed_ = false;
    bool abandoned_ = false;
    steady_time used_at_;
    steady_time in_doubt_until_{};  // Rows that seem expired fill the table's first page.
    steady_time rests_until_{};     // Without a route: no use in turning the whole table over.
};

}  // namespace posthorn
