#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/bell.hpp"
#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "outbox/lane/attempt_limits.hpp"
#include "outbox/lane/attempt_trace.hpp"
#include "outbox/lane/backlog.hpp"
#include "outbox/lane/claims.hpp"
#include "outbox/lane/lane_record.hpp"
#include "outbox/lane/route_table.hpp"
#include "outbox/lane/settler.hpp"
#include "outbox/lane/sweep_call.hpp"
#include "outbox/rules/agenda.hpp"
#include "outbox/rules/batch_size.hpp"
#include "outbox/rules/held_rows.hpp"
#include "outbox/rules/lane_gate.hpp"
#include "outbox/rules/lane_queue.hpp"
#include "outbox/rules/lane_window.hpp"
#include "outbox/rules/rate_limit.hpp"
#include "outbox/rules/trouble.hpp"

namespace posthorn {

/// What every lane uses; all of it outlives the lanes.
struct lane_deps {
    const environment& env;
    clock_guard& clocks;
    route_table& routes;
    outbox_counters& counters;
    const retry_policy& retries;
    const outbox_options& options;
    class settler& settler;
    class agenda& agenda;
    task_group& batches;  // In which attempts run.
    class claims& claims;
    sweep_call& sweep;
    bell& batch_ended;
};

/// Moves messages of one destination onto the wire, each at least once, several batches at a time.
///
/// What it decides is decided elsewhere, by pure types: whether it may send at all (`lane_gate`),
/// how fast (`rate_limit`), how much at once (`batch_size`, `lane_window`), who is next
/// (`lane_queue`), what becomes of a message (`judge`), and how it comes back from an outage
/// (`backlog`). A lane that may not send holds nothing: its rows are in the table, where people see
/// them and where the sweep finds them when it opens.
///
/// Lifetime: destroyed only when `is_idle()`, or after the task group of its batches has joined.
/// Threads:  the dispatcher's strand.
/// Cancel:   `stop()` takes nothing new; a batch whose coroutine is cancelled settles only what
///           its transport knows to be delivered, and leaves the rest pending and uncharged.
class lane final : public settle_listener {
public:
    enum class offered : std::uint8_t { taken, known, full, shut };

    lane(std::string destination, lane_deps with, bool paused);
    ~lane() override;
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;

    /// Moves the row away only if it is `taken`. `full` and `shut` leave it to the cold path, which
    /// is asked for once there is room.
    offered offer(outbox_row& row);
    /// Whether a row that was not taken is to be left to other dispatchers. What does not fit now
    /// is not, unless there is much of it: claiming it again would cost more than the wait.
    [[nodiscard]] bool is_for_others(offered what);
    /// Starts what can be started of what was offered.
    void pump();
    /// This is likely to be offered next. It may not be sent yet, and may never be.
    void prepare(const message& next);
    /// Records that rows are not messages; those already here are passed over.
    void bury(std::span<const bad_row> rows);
    /// Puts a row off until its own time, without an attempt.
    void postpone(const outbox_row& row, wall_time now);
    /// Records that rows of the table are past their time; those already here are passed over.
    void expire(std::vector<outbox_row> rows);
    /// Closes rows without an attempt; one that is on its way, or whose outcome is not on disk yet,
    /// is left as it is.
    void drop(std::span<const dropped_row> rows);
    /// Parks rows that wait for an earlier one of their order key, or records that they expired;
    /// those already here are passed over.
    void park(std::vector<outbox_row> rows, wall_time now);

    [[nodiscard]] bool has_room_for(std::size_t rows) const { return room() >= rows; }
    /// The cold path's read: how many rows to ask for, none if there is no room.
    [[nodiscard]] std::size_t begin_read();
    /// And how many bytes of messages; the one that goes past them is welcome.
    [[nodiscard]] std::size_t room_in_bytes() const;
    void end_read(bool store_has_more);
    /// Nothing came of it; the next poll tries again, not sooner.
    void fail_read();
    /// Around a look at the table that takes nothing in.
    void begin_look() { held_.begin_read(); }
    void end_look() { held_.end_read(); }
    /// The rows that the read need not find, in order.
    [[nodiscard]] std::vector<std::int64_t> held() const { return held_.list(); }
    [[nodiscard]] std::size_t rows_held() const { return held_.size(); }
    /// Whether what a read found is to be offered.
    [[nodiscard]] bool wants(std::int64_t seq) {
        return !held_.knows(seq) && (!backlog_ || backlog_->wants(seq));
    }
    /// Of the read that begins: what is newest comes first.
    [[nodiscard]] bool reads_newest() const { return backlog_ && backlog_->reads_newest(); }

    void pause(bool paused);
    /// A person asks for a try at once, whatever the lane knows; a pause holds all the same.
    void try_now();
    /// Takes new limits over, and looks for a route at once.
    void routes_changed();
    /// Now and then: lets go of what is past its time, and tells how it is.
    void tend();
    /// There are rows in the table that it will not get to soon.
    [[nodiscard]] bool is_behind() const { return store_has_more_; }

    void stop();
    /// From now on nothing is recorded: the answers belong to an old epoch.
    void cut_off() {
        is_cut_off_ = true;
        stop();
    }

    [[nodiscard]] bool is_empty() const { return held_.size() == 0 && in_flight_ == 0; }
    [[nodiscard]] bool is_idle() const;
    [[nodiscard]] std::size_t batches_in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] const std::string& destination() const noexcept { return destination_; }

    void settled(std::span<const settlement> outcomes) override;

private:
    /// A batch on its way.
    struct flight {
        std::vector<outbox_row> rows;
        bool probe = false;
        bool old = false;  // Of the backlog.
    };

    [[nodiscard]] std::size_t room() const;
    [[nodiscard]] std::size_t waiting() const {
        return queue_.size() + (backlog_ ? backlog_->size() : 0);
    }
    std::vector<outbox_row> take_waiting(const std::function<bool(const outbox_row&)>& which);
    std::vector<outbox_row> next_rows(bool old, std::size_t rows_max);
    void launch_what_may_go();
    [[nodiscard]] backlog::around beside(breaker::permit may) const {
        return {.newer = queue_.size(),
                .window = window_.size(),
                .probes = may == breaker::permit::one};
    }
    void wake_for_backlog() {
        if (const auto then = backlog_->ready_at(window_.size(), now())) wake_at(*then);
    }
    void launch(flight going);
    task<> deliver(flight going, attempt_limits::place limit);
    std::vector<delivery> answer_without_route(const std::vector<outbox_row>& rows);
    void finish(finished_batch back, bool interrupted);
    void keep_good_news(finished_batch& back);
    void remember_put_off(const finished_batch& back);
    /// Learns about the destination from a batch.
    void learn(const flight& going, const finished_batch& back);
    void follow_outage(breaker::state before, bool well);
    void tell_of_rest(std::optional<std::chrono::milliseconds> rest, bool answered);
    void tell_of_breaker(breaker::state before);
    void shut();
    void recall_held_back();
    void wake_at(steady_time when);
    task<> wake_after(steady_time when);
    void go_on() {
        if (const auto then = gate_.changes_at(now())) wake_at(*then);  // It may have been put off.
        pump();
        ask_for_more();
        publish();
    }
    void publish();
    void settle(std::vector<settlement> outcomes);
    void leave_in_doubt(const outbox_row& row);
    void let_go(const std::vector<outbox_row>& rows);
    void ask_for_more();
    [[nodiscard]] record_deps recording() const;
    [[nodiscard]] steady_time now() const { return with_.env.clock.steady(); }

    std::string destination_;
    lane_deps with_;
    lane_options options_;
    lane_gate gate_;
    rate_limit rate_;
    batch_size size_;
    lane_window window_;
    lane_queue queue_;
    held_rows held_;
    std::unique_ptr<class backlog> backlog_;  // Null but for an outage and the time after it.
    std::size_t in_flight_ = 0;
    attempt_limits limits_;
    bool pumps_ = false;
    bool store_has_more_ = false;
    bool closed_ = false;
    bool is_cut_off_ = false;
    std::size_t waiting_ = 0;  // Rows that did not fit, and are ours in the table, at most.
    steady_time used_at_;
    trouble trouble_;
    bool told_of_rest_ = false;
    std::optional<lane_mode> told_mode_;
    steady_time in_doubt_until_{};  // Rows that seem expired fill the table's first page.
    std::optional<wall_time> shut_since_;
    std::optional<steady_time> wakes_at_;
    std::size_t alarms_ = 0;               // Coroutines that wait to wake us.
    std::vector<std::int64_t> held_back_;  // Rows put off for want of a route, of late.
    std::optional<prepared_span> prepared_;
    std::vector<std::int64_t> put_off_;  // Rows that were to wait by their last answer, of late.
};

}  // namespace posthorn
