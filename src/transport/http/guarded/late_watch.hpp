#pragma once

#include <functional>
#include <map>

#include <boost/asio/cancellation_signal.hpp>

#include "base/async/bell.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// Ends what takes too long, with one timer for all of it: a timer for each would cost more than
/// most of what they watch.
///
/// Lifetime: outlives what it gives out; `stop`, then the task group's `join`, then the end.
/// Threads:  every member runs on the task group's executor.
class late_watch {
    struct entry {
        std::function<void()> end;
        bool* late;
    };
    using entries = std::multimap<steady_time, entry>;

public:
    late_watch(task_group& tasks, timer& time, const clock& now)
        : tasks_(tasks), time_(time), now_(now) {}
    ~late_watch();
    late_watch(const late_watch&) = delete;
    late_watch& operator=(const late_watch&) = delete;

    /// Watches as long as it lives.
    class watched {
    public:
        watched(late_watch& by, steady_time until, std::function<void()> end);
        ~watched();
        watched(const watched&) = delete;
        watched& operator=(const watched&) = delete;

        [[nodiscard]] bool was_late() const noexcept { return late_; }

    private:
        late_watch& by_;
        bool late_ = false;
        entries::iterator place_;
    };

    /// Watches no more.
    void stop();

private:
    task<> run();

    task_group& tasks_;
    timer& time_;
    const clock& now_;
    entries all_;
    steady_time wakes_at_ = steady_time::max();
    bell sooner_;
    boost::asio::cancellation_signal* running_ = nullptr;
    bool runs_ = false;
};

}  // namespace posthorn
