#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/time/clock.hpp"
#include "store/sqlite/commit/unit_transaction.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/driver/wal_write_buffer.hpp"
#include "store/store.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// A unit on its way through a commit.
struct member {
    unit work;
    result<> outcome{};
    bool settled = false;  // Its outcome is final and it takes no part in another try.
    std::vector<outbox_row> enqueued{};
    std::vector<outbox_row> released{};
    std::vector<std::int64_t> received{};
};

/// How an attempt to commit a group ended.
enum class commit_end : std::uint8_t {
    committed,  // Every member has its outcome.
    refused,    // Nothing was stored; every member has the reason.
    lost,       // One member broke the transaction and has its outcome; try the others one by one.
    in_doubt,   // Nobody knows what is on disk: stop.
};

/// Runs units in one transaction and commits them with one sync. If one fails, they run again, each
/// in its own SAVEPOINT, so that it alone is undone.
///
/// Lifetime: not past its connection.
/// Threads:  the writer's, but for `unit_age`.
class group {
public:
    static result<std::unique_ptr<group>> open(connection& database, const clock& time,
                                               const outbox_rules& rules, disk_keeper& room);
    ~group();
    group(const group&) = delete;
    group& operator=(const group&) = delete;

    /// Takes the write lock.
    result<> begin();
    /// Whether it failed because the WAL's index must be built anew first.
    [[nodiscard]] bool needs_recovery() const;
    /// Runs the members that are not settled. `begin` came before. Nothing if what they did is to
    /// be committed.
    std::optional<commit_end> run(std::span<member> members);
    /// Commits what was run.
    commit_end commit(std::span<member> members);
    /// Gives the write lock back; nothing was changed.
    void roll_back();
    /// Whether somebody else committed since the last call.
    result<bool> changed_by_others();

    [[nodiscard]] std::chrono::nanoseconds unit_age() const;
    /// How long the units of the last commit ran, without its sync.
    [[nodiscard]] std::chrono::nanoseconds run_time() const { return run_time_; }

private:
    group(connection& database, const clock& time, const outbox_rules& rules, disk_keeper& room,
          bool gives_back);
    enum class ran : std::uint8_t {
        all,     // Each has its outcome, and what failed is undone.
        undone,  // One failed, so that nothing is to be stored.
        broke,   // One took the transaction along, or it could not begin anew.
    };
    ran run_all(std::span<member> members);
    ran run_together(std::span<member> members);
    ran run_in_savepoints(std::span<member> members);
    bool run_in_savepoint(member& one);
    bool run_and_note(member& one);
    result<> run_work(member& one);
    result<> log_changes(std::span<member> members);
    [[nodiscard]] bool transaction_is_gone() const;
    void guard_units();

    connection& database_;
    const clock& time_;
    unit_transaction transaction_;
    statement begin_;
    statement commit_;
    wal_write_buffer log_;
    statement roll_back_;
    statement savepoint_;
    statement release_;
    statement roll_back_to_;
    statement data_version_;
    std::int64_t data_version_seen_ = 0;
    int careful_groups_ = 0;   // How many more are run in savepoints at once.
    bool units_only_ = false;  // What the authorizer allows.
    std::int64_t deadline_ns_ = 0;
    std::chrono::nanoseconds run_time_{};
    std::atomic<std::int64_t> unit_started_ns_ = 0;
};

}  // namespace posthorn::sqlite
