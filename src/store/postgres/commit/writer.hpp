#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/async/executor.hpp"
#include "store/commit/unit_queue.hpp"
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

    void submit(std::vector<unit> work) { queue_.submit(std::move(work)); }
    /// Another session of the store has committed what other nodes should be told of.
    void tell_others() { queue_.call(); }
    /// Another session has let go of what this one could not have, perhaps.
    void look_again();
    void stop();

    [[nodiscard]] std::chrono::nanoseconds longest_wait() const { return queue_.longest_wait(); }
    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return commits_.unit_age(); }
    [[nodiscard]] bool is_connected() const noexcept { return commits_.is_connected(); }

private:
    void work();
    void tell_news(bool is_idle);

    const clock& time_;
    committer commits_;
    bool has_news_ = false;
    steady_time told_at_{};
    unit_queue queue_;
};

}  // namespace posthorn::postgres
