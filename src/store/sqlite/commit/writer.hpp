#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "store/commit/unit_queue.hpp"
#include "store/commit_news.hpp"
#include "store/rules/write_trouble.hpp"
#include "store/sqlite/commit/group.hpp"
#include "store/sqlite/driver/wal_guard.hpp"
#include "store/store.hpp"

namespace posthorn::sqlite {

struct writer_options {
    bool shared = false;  // Other processes write too: leave them gaps.
    std::size_t units_max = 2'000;
    int wal_pages_checkpoint = 0;  // From so many on the log is copied into the file.
    log_shipper* shipper = nullptr;
};

/// The one that writes: takes what is queued, commits it as a group, answers all.
///
/// While a sync is under way the next group gathers by itself.
///
/// Lifetime: `stop()` has returned before it is destroyed.
/// Threads:  any; the work runs on the executor given or in `run_here`, one job at a time.
/// Cancel:   `stop()` refuses new units, commits what is queued, lazy units too.
class writer {
public:
    writer(connection& database, group& commits, wal_guard& guard, disk_keeper& room,
           const clock& time, executor& thread, logger& log, writer_options options);

    void submit(std::vector<unit> work) { queue_.submit(std::move(work)); }
    /// Commits a unit on the calling thread, which is to wait for it anyway. False, and nothing is
    /// done, where `unit_queue::submit_here` says so, and in a shared file. What must not throw on
    /// the writer's thread must not throw here.
    bool run_here(unit& work) noexcept;
    [[nodiscard]] commit_news& news() noexcept { return news_; }
    /// Runs on the writer's thread between two groups.
    void post(executor::job work);
    /// From what was posted: writes the file anew, without its holes.
    result<> compact();
    void stop();
    [[nodiscard]] std::uint64_t units_done() const { return units_done_; }
    [[nodiscard]] std::optional<error> trouble() const { return trouble_.now(); }
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const { return queue_.longest_wait(); }
    [[nodiscard]] bool has_failed() const { return queue_.failure().has_value(); }

private:
    void work();
    void commit(std::vector<member> members);
    void commit_alone(std::vector<member>& members);
    commit_end try_commit(std::span<member> members);
    void announce(std::span<const member> members);
    void answer(std::vector<member>& members);
    void fail_stop(const error& cause);
    void watch_room(std::span<const member> members);
    void leave_gap();
    void fit_group(std::size_t units);
    [[nodiscard]] bool checkpoint_is_due() const {
        return wal_pages_ >= options_.wal_pages_checkpoint;
    }
    void checkpoint();
    result<> begin();
    result<> begin_commit();

    connection& database_;
    group& group_;
    wal_guard& guard_;
    disk_keeper& room_;
    const clock& time_;
    executor& thread_;
    logger& log_;
    writer_options options_;
    std::atomic<int> wal_pages_ = 0;
    std::atomic<std::uint64_t> units_done_ = 0;
    write_trouble trouble_;
    std::size_t units_now_;  // In one group; fewer in a shared file, so that the lock is soon free.
    std::chrono::nanoseconds held_{};  // The write lock, since the last gap.

    std::mutex turn_;  // Held by the thread that uses the connection.
    unit_queue queue_;
    commit_news news_;  // Those who are told may submit meanwhile.
};

}  // namespace posthorn::sqlite
