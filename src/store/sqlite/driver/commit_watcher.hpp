#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/run/node_service.hpp"

namespace posthorn::sqlite {

/// Notices within milliseconds that another process has committed to the file.
///
/// A write to the WAL announces a commit that is not visible yet, so after each announcement it
/// looks again and again, with growing pauses, for a while. Our own commits announce themselves
/// too, so it looks through a connection of its own, which wakes no thread, and asks the writer
/// whose commit it was only when there is one. Where the system has no such announcements it does
/// nothing, and the regular sweep remains.
///
/// Lifetime: what the functions refer to outlives `run()`.
/// Threads:  the executor that runs it.
/// Cancel:   `run()` returns.
class commit_watcher final : public node_service {
public:
    /// Whether others committed since it was last asked.
    using question = std::function<task<bool>()>;

    commit_watcher(std::string database_path, timer& sleeper, logger& log, question changed,
                   std::function<void()> on_change);

    [[nodiscard]] std::string_view name() const noexcept override { return "commit watcher"; }
    task<> run() override;

private:
    class announcements;
    class sight;
    task<bool> next_while_looking(announcements& from, sight& through);
    task<> look_for_a_while(announcements& from, sight& through);
    task<> look(sight& through);
    task<result<bool>> deaf_pause(announcements& from, std::chrono::nanoseconds pause);
    [[nodiscard]] bool is_sparing() const;

    std::string path_;
    timer& sleeper_;
    logger& log_;
    question changed_;
    std::function<void()> on_change_;
    int own_in_a_row_ = 0;  // Commits that were seen and were our own.
    std::chrono::nanoseconds since_others_ = std::chrono::hours{1};  // Of looking, not of idling.
};

}  // namespace posthorn::sqlite
