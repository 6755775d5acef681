#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/async/bell.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock.hpp"
#include "outbox/lane/settle_board.hpp"
#include "outbox/lane/settle_unit.hpp"
#include "outbox/rules/outbox_options.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Records what became of messages, cheaply: outcomes ride with the next commit, whatever it is
/// for, those of all lanes as one unit, and force one only when they are many or have waited a few
/// milliseconds. One that others may wait for, because of its order key, does not wait.
///
/// A crash before that loses outcomes, never messages: the receiver's inbox absorbs the repeat.
///
/// | the store says | then                                                                        |
/// |----------------|-----------------------------------------------------------------------------|
/// | committed      | the listener is told                                                        |
/// | lease lost     | dropped: the rows are another node's now; `lost` is called                  |
/// | in doubt       | final outcomes again; retries not, which could be charged twice: at worst   |
/// |                | such a row is pending as before, and tried sooner                           |
/// | a statement    | in two halves, at once: a trigger of the application may refuse one row. One |
/// | failed         | that fails by itself is tried again ever more rarely, and is counted         |
/// | anything else  | again after a pause                                                         |
///
/// What could not be recorded is on the board until it is: its messages were delivered, and are
/// sent again after a restart. Outcomes of large messages go to the writer few at a time: the
/// others wait here.
///
/// Lifetime: listeners and the board outlive it; `run()` has returned before it is destroyed.
/// Threads:  the dispatcher's strand.
/// Cancel:   `run()` returns; outcomes not yet on disk are left to the store. `flush()` before it.
class settler {
public:
    /// `ended` is called when messages that were given up are on disk as such.
    settler(const environment& env, store& where, settle_board& board, settler_options options,
            std::int64_t epoch, std::function<void()> lost, std::function<void()> ended = {});
    ~settler();
    settler(const settler&) = delete;
    settler& operator=(const settler&) = delete;

    void add(settle_listener& listener, std::vector<settlement> outcomes);
    task<> run();
    /// Forces a commit and waits until nothing is left, at most for `limit`.
    task<> flush(std::chrono::nanoseconds limit);
    /// Nothing is submitted any more: the epoch is over.
    void cut_off();
    [[nodiscard]] std::size_t outcomes_waiting() const noexcept { return outcomes_waiting_; }

private:
    struct batch {
        std::shared_ptr<settle_unit> unit;
        steady_time since;
        bool forced = false;
        std::size_t unforced = 0;  // Of its outcomes, if it is not.
        std::size_t bytes = 0;     // Of the messages.
        steady_time retry_at{};
        std::chrono::milliseconds alone_delay{};  // Zero, unless it has failed alone.
    };
    /// What the writer's thread leaves for us; it may outlive us.
    struct answers {
        std::mutex mutex;
        std::vector<std::pair<std::uint64_t, result<>>> list;
        bell arrived;
    };

    void submit_all(settle_listener& listener, std::vector<settlement> outcomes);
    [[nodiscard]] bool join(settle_listener& listener, std::vector<settlement>& outcomes,
                            std::size_t bytes);
    void submit_again(std::shared_ptr<settle_unit> unit);
    /// How many at the end of the list make one unit.
    [[nodiscard]] std::size_t last_unit(std::span<const settlement> of) const;
    [[nodiscard]] bool has_room_for(const batch& one) const;  // With the writer.
    void submit_when_there_is_room(batch what);
    void submit(batch what);
    void force();
    task<> ring_at(steady_time when, std::chrono::nanoseconds after);
    void take_answers();
    void take_answer(batch what, const result<>& answer);
    void try_later(batch what, const error& why);
    void try_halves(const batch& what);
    void try_alone_later(batch what, const error& why);
    void note_failure(const batch& what, const error& why);
    void note_recorded(const batch& what);
    void forget_failures();
    void resubmit(steady_time now);
    void finish(const batch& what);
    [[nodiscard]] std::optional<steady_time> next_deadline() const;

    const environment& env_;
    store& where_;
    settle_board& board_;
    settler_options options_;
    std::int64_t epoch_;
    std::function<void()> lost_;
    std::function<void()> ended_;
    std::shared_ptr<answers> answers_ = std::make_shared<answers>();
    std::map<std::uint64_t, batch> submitted_;       // By the number of the submission.
    std::uint64_t joinable_ = 0;                     // The last of them that others may join.
    std::map<std::uint64_t, steady_time> unforced_;  // Those of them that wait for a commit; since.
    std::deque<batch> waiting_;                      // For the writer to be done with large ones.
    std::vector<batch> failed_;                      // To be submitted again, each in its time.
    std::set<std::int64_t> unrecorded_;    // Rows whose outcome failed to be recorded so far.
    std::optional<steady_time> alarm_at_;  // The first that `run` wakes at by itself.
    steady_time retry_at_{};               // Of those that the store as a whole has failed.
    std::chrono::milliseconds retry_delay_;
    std::size_t bytes_submitted_ = 0;
    std::uint64_t submissions_ = 0;
    std::size_t outcomes_waiting_ = 0;
    std::size_t outcomes_unforced_ = 0;
    bool is_cut_off_ = false;
    bell drained_;
};

}  // namespace posthorn
