#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "outbox/rules/lane_queue.hpp"
#include "outbox/rules/rate_limit.hpp"
#include "outbox/rules/replay.hpp"

namespace posthorn {

/// What had waited when an outage ended, beside the messages that are newer: in memory, a part of
/// it; and when each may go. A lane has one from the beginning of an outage until the backlog is
/// worked off, and otherwise none.
///
/// Old is what has a seq up to the highest that was found when the outage ended; all is, until that
/// is known. Of the lane's window, the backlog leaves a batch to what is newer, and half its room.
///
/// What to read from the table:
///
/// | the highest seq | of the backlog in memory | the next read                                |
/// |-----------------|--------------------------|----------------------------------------------|
/// | is not known    | any                      | the newest, to know it                       |
/// | is known        | little                   | the backlog; every second one, what is newer |
/// | is known        | enough                   | what is newer                                |
///
/// Pure: the caller says what time it is.
/// Threads: the dispatcher's strand.
class backlog {
public:
    backlog(const replay_options& how, std::size_t rows_max, std::size_t bytes_max)
        : how_(how), rows_max_(rows_max), bytes_max_(bytes_max) {}

    void note(replay_event what, steady_time now);
    [[nodiscard]] replay_phase phase() const noexcept { return is_.phase; }
    /// Zero: no limit.
    [[nodiscard]] double rate(steady_time now) const { return replay_rate(is_, now, how_); }
    [[nodiscard]] bool is_over() const noexcept { return is_.phase == replay_phase::live; }

    [[nodiscard]] bool is_old(std::int64_t seq) const {
        return !is_over() && (!mark_ || seq <= *mark_);
    }
    /// A row came up, whether or not there is room for it.
    void saw(std::int64_t seq) { highest_ = std::max(highest_, seq); }
    /// Whether a row that the read under way has found is to be taken in.
    [[nodiscard]] bool wants(std::int64_t seq);
    [[nodiscard]] bool has_room_for(std::int64_t seq) const {
        return !is_old(seq) || (queue_.size() < rows_max_ && bytes_ < bytes_max_);
    }
    void push(outbox_row row);
    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }
    [[nodiscard]] outbox_row pop();
    std::vector<outbox_row> take_if(const std::function<bool(const outbox_row&)>& is_over);

    /// What the lane has beside.
    struct around {
        std::size_t newer = 0;   // That wait in memory.
        std::size_t window = 1;  // Batches that may be in flight.
        bool probes = false;     // One message may go, to see whether it is answered.
    };
    /// How many of `wanted` may go now; none if it is not its turn.
    [[nodiscard]] std::size_t allows(std::size_t wanted, const around& lane, steady_time now);
    /// When to ask again, if time is all that is missing.
    [[nodiscard]] std::optional<steady_time> ready_at(std::size_t window, steady_time now);
    /// A batch goes out: of the backlog, or of what is newer.
    void went(bool old, std::size_t rows, steady_time now);
    /// A batch of the backlog came back.
    void came_back(steady_time now);

    /// A read of up to `room` rows begins: how many to ask for.
    [[nodiscard]] std::size_t begin_read(std::size_t room);
    [[nodiscard]] bool reads_newest() const;
    /// True if the next should come at once.
    [[nodiscard]] bool end_read(bool more, steady_time now);
    /// There is too little in memory to go on with.
    [[nodiscard]] bool is_low() const { return queue_.size() * 2 < rows_max_; }

private:
    enum class reading : std::uint8_t { mark, old, newer };

    [[nodiscard]] std::size_t in_flight_max(const around& lane) const;
    [[nodiscard]] bool is_its_turn(const around& lane) const;
    void set_pace(steady_time now);
    void look_for_the_end(steady_time now);

    replay_options how_;
    std::size_t rows_max_;
    std::size_t bytes_max_;
    replay_state is_{};
    rate_limit pace_{};
    lane_queue queue_;
    std::size_t bytes_ = 0;  // Of what is queued.
    std::size_t in_flight_ = 0;
    bool went_last_ = false;  // And not what is newer.
    std::int64_t highest_ = 0;
    std::optional<std::int64_t> mark_;
    reading reads_ = reading::old;
    std::size_t found_ = 0;   // Old ones, by the read under way.
    bool exhausted_ = false;  // The table has no more of it that is due.
};

}  // namespace posthorn
