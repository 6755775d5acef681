#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/time/clock.hpp"
#include "store/commit/member.hpp"
#include "store/commit/unit_run.hpp"
#include "store/sqlite/commit/unit_transaction.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/driver/wal_write_buffer.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

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

    /// What takes each commit elsewhere; null if nothing does.
    void ship_with(log_shipper* shipper) { log_.ship_with(shipper); }
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
    /// Whether others committed since the last call.
    result<bool> changed_by_others();

    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return run_unit_.age(); }
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
    void guard_units();

    connection& database_;
    const clock& time_;
    unit_run run_unit_;
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
    caution caution_;
    bool units_only_ = false;              // What the authorizer allows.
    std::optional<steady_time> deadline_;  // Of the unit that runs.
    std::chrono::nanoseconds run_time_{};
};

}  // namespace posthorn::sqlite
