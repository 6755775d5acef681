#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock.hpp"
#include "base/time/clock_watch.hpp"

namespace posthorn::sqlite {

struct backup_plan {
    std::filesystem::path folder;
    std::chrono::milliseconds every = std::chrono::hours{1};
    std::chrono::milliseconds keep = std::chrono::days{7};
};

/// How the backups of one database go.
struct backup_state {
    std::uint64_t made = 0;  // These two since the node started.
    std::uint64_t failed = 0;
    std::optional<wall_time> newest{};  // There may be one of an earlier run.
    std::chrono::milliseconds took{};   // The last that was made.
    std::uintmax_t bytes = 0;
    std::string last_error{};  // Empty if the last one succeeded.

    bool operator==(const backup_state&) const = default;
};

/// Backs a database up at intervals, verifies what it made, and removes what is old.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  `run()` on one; it copies on the executor given, which it keeps busy; the rest any.
/// Cancel:   `stop()` ends a copy under way, which is then removed; a cancelled `run()` returns
///           after it.
class backup_keeper final : public node_service {
public:
    struct parts {
        const clock& time;
        timer& sleeper;
        executor& thread;
        logger& log;
    };
    struct source {
        std::string database;
        std::string service;
    };

    backup_keeper(source of, backup_plan plan, const parts& with)
        : source_(std::move(of)), plan_(std::move(plan)), with_(with), clocks_(with.time) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "backups"; }
    task<> run() override;
    void stop() noexcept override { stopping_ = true; }
    [[nodiscard]] backup_state state() const;

private:
    [[nodiscard]] std::optional<wall_time> newest_in_folder();
    /// On the executor.
    bool back_up();
    void remove_old();

    source source_;
    backup_plan plan_;
    parts with_;
    clock_guard clocks_;  // A clock that has jumped makes everything look old.
    std::atomic<bool> stopping_ = false;
    mutable std::mutex mutex_;
    backup_state state_;  // Under the mutex.
};

}  // namespace posthorn::sqlite
