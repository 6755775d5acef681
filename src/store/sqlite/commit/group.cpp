#include "store/sqlite/commit/group.hpp"

#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "base/planted.hpp"

namespace posthorn::sqlite {
namespace {

// Giving pages back is a unit's work too; harmless, whichever unit asks.
bool is_ours(std::string_view pragma) {
    return pragma == "incremental_vacuum" || pragma == "freelist_count" || pragma == "page_count";
}

}  // namespace

result<std::unique_ptr<group>> group::open(connection& database, const clock& time,
                                           const outbox_rules& rules, disk_keeper& room) {
    constexpr std::int64_t incremental = 2;
    POSTHORN_LET(vacuum, database.integer("PRAGMA auto_vacuum"));
    std::unique_ptr<group> made(new group(database, time, rules, room, vacuum == incremental));
    made->guard_units();
    POSTHORN_TRY(made->changed_by_others());
    return made;
}

group::group(connection& database, const clock& time, const outbox_rules& rules, disk_keeper& room,
             bool gives_back)
    : database_(database),
      time_(time),
      run_unit_(time),
      transaction_(database, time, rules, {.room = room, .gives_back = gives_back}),
      begin_(database, "BEGIN IMMEDIATE"),
      commit_(database, "COMMIT"),
      roll_back_(database, "ROLLBACK"),
      savepoint_(database, "SAVEPOINT posthorn_unit"),
      release_(database, "RELEASE posthorn_unit"),
      roll_back_to_(database, "ROLLBACK TO posthorn_unit"),
      data_version_(database, "PRAGMA data_version") {}

group::~group() {
    sqlite3_set_authorizer(database_.handle(), nullptr, nullptr);
    sqlite3_progress_handler(database_.handle(), 0, nullptr, nullptr);
}

// Units may neither end the transaction they share nor run for ever.
void group::guard_units() {
    const auto authorize = [](void* self, int action, const char* name, const char*, const char*,
                              const char*) -> int {
        if (!static_cast<group*>(self)->units_only_) return SQLITE_OK;
        if (action == SQLITE_PRAGMA && is_ours(name)) return SQLITE_OK;
        switch (action) {
            case SQLITE_TRANSACTION:
            case SQLITE_SAVEPOINT:
            case SQLITE_ATTACH:
            case SQLITE_DETACH:
            case SQLITE_PRAGMA: return SQLITE_DENY;
            default: return SQLITE_OK;
        }
    };
    const auto watch_time = [](void* self) -> int {
        const auto* const us = static_cast<group*>(self);
        return us->deadline_ && us->time_.steady() > *us->deadline_ ? 1 : 0;
    };
    constexpr int steps_between_looks = 4096;
    sqlite3_set_authorizer(database_.handle(), authorize, this);
    sqlite3_progress_handler(database_.handle(), steps_between_looks, watch_time, this);
}

result<> group::begin() {
    POSTHORN_TRY(begin_.run());
    return {};
}

bool group::needs_recovery() const {
    const int code = sqlite3_extended_errcode(database_.handle());
    return (code & 0xff) == SQLITE_PROTOCOL || code == SQLITE_BUSY_RECOVERY;
}

void group::roll_back() {
    if (database_.is_in_transaction()) POSTHORN_ASSERT(roll_back_.run().has_value());
}

result<bool> group::changed_by_others() {
    POSTHORN_LET(version, data_version_.run());
    const auto seen = version.front().integer(0);
    return std::exchange(data_version_seen_, seen) != seen;
}

result<> group::run_work(member& one) {
    const auto now = time_.steady();
    deadline_ = now + one.work.limit;
    units_only_ = true;
    auto outcome = run_unit_(one.work, transaction_, now);
    units_only_ = false;
    deadline_.reset();
    return outcome;
}

// Whether the transaction is still there afterwards.
bool group::run_and_note(member& one) {
    one.forget_rows();  // Of an earlier run.
    one.outcome = run_work(one);
    take_rows(one, transaction_);
    if (!database_.is_in_transaction()) {
        if (one.outcome)
            one.outcome = fail(error_code::statement_failed,
                               "a statement of the unit rolled the whole transaction back; do not "
                               "use OR ROLLBACK");
        one.settled = true;
        return false;
    }
    // Found at COMMIT, a deferred violation would take the others along.
    int violations = 0;
    int highest = 0;
    sqlite3_db_status(database_.handle(), SQLITE_DBSTATUS_DEFERRED_FKS, &violations, &highest, 0);
    if (one.outcome && violations != 0)
        one.outcome =
            fail(error_code::statement_failed, "FOREIGN KEY constraint failed (deferred)");
    return true;
}

// False if the whole transaction is gone with it.
bool group::run_in_savepoint(member& one) {
    if (!savepoint_.run() || !run_and_note(one)) return false;
    if (one.outcome) return release_.run().has_value();
    if (POSTHORN_PLANTED(dropped_savepoint)) return release_.run().has_value();
    one.forget_rows();
    return roll_back_to_.run().has_value() && release_.run().has_value();
}

group::ran group::run_in_savepoints(std::span<member> members) {
    for (auto& one : members)
        if (!one.settled && !run_in_savepoint(one)) return ran::broke;
    return ran::all;
}

// Which one fails is known only once all that came before it is there, too; so all run again.
group::ran group::run_together(std::span<member> members) {
    for (auto& one : members) {
        if (one.settled) continue;
        if (!run_and_note(one)) return ran::broke;
        if (!one.outcome) return ran::undone;
    }
    return ran::all;
}

group::ran group::run_all(std::span<member> members) {
    if (caution_.is_called_for()) return run_in_savepoints(members);
    const auto done = run_together(members);
    if (done != ran::undone) return done;
    roll_back();
    if (members.size() == 1) return ran::undone;
    caution_.note_failure();
    return begin() ? run_in_savepoints(members) : ran::broke;
}

std::optional<commit_end> group::run(std::span<member> members) {
    const auto begun = time_.steady();
    switch (run_all(members)) {
        case ran::all: break;
        case ran::undone: return commit_end::refused;
        case ran::broke: roll_back(); return commit_end::lost;
    }
    if (auto logged = log_changes(transaction_.log(), members, time_.wall()); !logged) {
        roll_back();
        give_outcome(members, logged);
        return commit_end::refused;
    }
    run_time_ = time_.steady() - begun;
    return std::nullopt;
}

commit_end group::commit(std::span<member> members) {
    const auto committed = log_.run(database_, commit_);
    if (committed) return commit_end::committed;
    const auto code = committed.error().code();
    const bool constraint =
        (sqlite3_extended_errcode(database_.handle()) & 0xff) == SQLITE_CONSTRAINT;
    const bool refused = code == error_code::store_full || code == error_code::store_busy ||
                         POSTHORN_PLANTED(failed_sync_ignored);
    if (refused || constraint) roll_back();
    if (constraint) return commit_end::lost;
    const result<> outcome =
        refused ? result<>(std::unexpected(committed.error()))
                : fail(POSTHORN_PLANTED(in_doubt_called_refused) ? error_code::io_failed
                                                                 : error_code::commit_in_doubt,
                       "{}; whether this commit took hold shows after a restart: repeat it with "
                       "the same message id",
                       committed.error().what());
    // Even one that failed by itself: what it saw of its neighbours' rows is not there.
    if (!(POSTHORN_PLANTED(full_disk_not_told) && refused)) give_outcome(members, outcome);
    return refused ? commit_end::refused : commit_end::in_doubt;
}

}  // namespace posthorn::sqlite
