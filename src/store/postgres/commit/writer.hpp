#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/async/executor.hpp"
#include "store/postgres/commit/committer.hpp"

namespace posthorn::postgres {

/// Takes units and commits them in groups, on one session.
///
/// Lifetime: `stop()` before it is destroyed.
/// Threads:  any; units run on the executor's thread.
/// Cancel:   `stop()` refuses new units, commits those it has, and returns.
class writer {
public:
    writer(session_options options, std::unique_ptr<session> first, write_services& with,
           executor& thread);

    void submit(std::vector<unit> work);
    /// Another session of the store has committed what other nodes should be told of.
    void tell_others();
    /// Another session has let go of what this one could not have, perhaps.
    void look_again();
    void stop();

    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return commits_.unit_age(); }
    [[nodiscard]] bool is_connected() const noexcept { return commits_.is_connected(); }

private:
    void schedule_if_needed();
    [[nodiscard]] bool is_wanted() const;
    void work();
    std::vector<member> take_group();
    void tell_news(bool is_idle);

    const clock& time_;
    executor& thread_;
    committer commits_;
    bool has_news_ = false;
    steady_time told_at_{};

    std::mutex mutex_;
    std::condition_variable idle_;
    std::deque<unit> queue_;
    std::deque<unit> lazy_;
    bool others_have_news_ = false;
    bool scheduled_ = false;
    bool stopping_ = false;
};

}  // namespace posthorn::postgres
