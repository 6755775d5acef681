#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/executor.hpp"
#include "store/postgres/commit/committer.hpp"
#include "store/postgres/commit/writer.hpp"

namespace posthorn::postgres {

/// Runs the application's own transactions (`unit::alone`), several at a time, each on a session
/// that it has for itself meanwhile. Sessions and threads are made when they are first wanted.
///
/// A transaction for which the server gives no further session goes to the writer, which has one.
///
/// Lifetime: `stop()` before it is destroyed; the writer outlives it.
/// Threads:  any; units run on threads of its own, and may end in another order than they came in.
/// Cancel:   `stop()` refuses new ones, runs those it has, and returns.
class own_transactions {
public:
    /// At most `count` at a time. `of` are the options of the store's sessions.
    own_transactions(session_options of, std::size_t count, write_services& with, writer& shared);

    void submit(unit one);
    void stop();

    /// Of the one that has been running the longest.
    [[nodiscard]] std::chrono::nanoseconds unit_age() const;

private:
    void start_threads();
    void work();
    [[nodiscard]] std::pair<unit, committer*> take();
    void run(unit one, committer& on);
    void pass_on(unit one);
    void give_back(committer* used);

    session_options options_;
    std::size_t count_;
    write_services& with_;
    writer& shared_;

    mutable std::mutex mutex_;
    std::condition_variable idle_;
    std::deque<unit> queue_;
    std::vector<std::unique_ptr<committer>> all_;
    std::vector<committer*> connected_;  // Not in use; the last one used comes first.
    std::vector<committer*> unconnected_;
    std::size_t unfinished_ = 0;
    bool stopping_ = false;
    std::optional<worker_threads> threads_;  // Last, so that the rest exists while they run.
};

}  // namespace posthorn::postgres
