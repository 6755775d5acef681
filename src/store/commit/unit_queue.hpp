#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/executor.hpp"
#include "base/time/clock.hpp"
#include "store/commit/member.hpp"

namespace posthorn {

/// Answers a unit that comes to a store which takes no more.
void refuse_as_stopping(unit& work);

/// The units that wait for a writer, and whether a thread works for them.
///
/// Work is posted once at a time: when something is wanted and no thread works, and again after
/// work, as long as there is more. While one group is committed the next one gathers here.
///
/// Lifetime: `stop()` has returned before it is destroyed. It does not matter that the last one
///           that worked has not returned from `go_on` yet: that touches nothing any more.
/// Threads:  any.
/// Cancel:   `stop()` refuses new units, and waits until those that are there are taken and done,
///           lazy ones too.
class unit_queue {
public:
    /// What to do with units that want to be alone in their transaction.
    enum class alone_units : bool { share, are_alone };

    /// `work` is run on `thread`: it takes a group, commits it, and says `go_on`.
    unit_queue(executor& thread, const clock& time, std::function<void()> work, alone_units alone)
        : thread_(thread), time_(time), work_(std::move(work)), alone_(alone) {}

    /// Puts them in line, or answers each of them that nothing is taken any more.
    void submit(std::vector<unit> work);
    /// Puts one in line whose submitter works itself, and calls `go_on` then. False, and nothing
    /// is done, unless no thread works, nothing waits, and one alone was taken the last time:
    /// together is cheaper.
    bool submit_here(unit& one);
    /// There is work that is not a unit. What it is, the worker knows.
    void call();
    /// Whether `call` was called since the last time.
    [[nodiscard]] bool was_called();

    /// The next group, of so many at most.
    std::vector<member> take(std::size_t units_max);
    /// All that were taken have been answered; what follows is not waited for by them.
    void put_down();
    /// To be called last by the one that has worked. Works again if there is more, or `regardless`.
    void go_on(bool regardless = false);

    /// Whether there is something to do that does not wait for others to cause a commit.
    [[nodiscard]] bool has_work() const;
    /// Units that are to cause a commit.
    [[nodiscard]] bool has_units() const;
    /// See `store::longest_wait`.
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const;

    /// Answers those that wait, and all that come, with this.
    void fail(const error& why);
    [[nodiscard]] std::optional<error> failure() const;
    void stop();

private:
    struct waiting {
        unit work;
        steady_time since{};
    };

    [[nodiscard]] bool is_wanted() const;
    void schedule_if_needed();
    [[nodiscard]] std::optional<error> refusal() const;

    executor& thread_;
    const clock& time_;
    std::function<void()> work_;
    alone_units alone_;

    mutable std::mutex mutex_;
    std::condition_variable idle_;
    std::deque<waiting> queue_;
    std::deque<waiting> lazy_;
    std::optional<steady_time> in_hand_since_;  // Of the oldest that was taken and is not answered.
    std::optional<error> failed_;
    bool called_ = false;
    bool scheduled_ = false;  // A thread works, or will.
    bool took_one_ = true;    // The last group had one unit, apart from lazy ones.
    bool stopping_ = false;
    // Some that waited for a commit found no room in it; they are not to wait for yet another.
    bool left_lazy_ = false;
};

}  // namespace posthorn
