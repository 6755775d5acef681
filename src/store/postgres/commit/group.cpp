#include "store/postgres/commit/group.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "store/postgres/driver/failures.hpp"

namespace posthorn::postgres {
namespace {

bool is_running(const member& one) { return !one.settled; }

/// Others hold what was needed, as when two wait for each other.
bool is_busy(const connection& database) {
    return classify(database.last_state()) == error_code::store_busy;
}
bool is_busy(const std::optional<error>& why) {
    return why && why->code() == error_code::store_busy;
}

}  // namespace

result<> group::run_work(session& on, member& one) {
    const auto now = time_.steady();
    on.database().set_deadline(now + one.work.limit);
    return run_unit_(one.work, on.transaction(), now);
}

// What it left in line is run now, so that no neighbour gets the blame. Found at COMMIT, a broken
// deferred constraint would take the others along; so it is looked for now, and the look is taken
// back, since it would make all constraints immediate for those that come after.
result<> group::finish(session& on, bool is_shared) {
    auto& database = on.database();
    if (on.transaction().broken()) return std::unexpected(*on.transaction().broken());
    if (is_shared && on.transaction().has_foreign_sql()) {
        database.defer("SAVEPOINT posthorn_check");
        database.defer("SET CONSTRAINTS ALL IMMEDIATE");
        database.defer("ROLLBACK TO posthorn_check");
        database.defer("RELEASE posthorn_check");
    }
    const bool did_nothing = database.take_back(unit_transaction::unit_savepoint);
    if (did_nothing) {
        database.defer(unit_transaction::unit_savepoint);
        return {};
    }
    if (database.has_line()) POSTHORN_TRY(database.flush());
    if (database.is_spoilt())
        return fail(error_code::statement_failed,
                    "a statement of the unit failed, though the unit says that it did not");
    return {};
}

// False if the whole transaction is gone with it.
bool group::run(session& on, member& one, bool is_shared) {
    auto& database = on.database();
    auto& transaction = on.transaction();
    transaction.begin_unit(true);
    one.forget_rows();  // Of an earlier run.
    one.outcome = run_work(on, one);
    if (one.outcome) one.outcome = finish(on, is_shared);
    // Whatever it made of that.
    one.gave_way = !one.outcome && (is_busy(database) || is_busy(transaction.broken()));
    database.set_deadline(std::nullopt);
    take_rows(one, transaction);
    if (database.is_lost()) return false;
    if (one.outcome) {
        if (!database.take_back(unit_transaction::unit_savepoint))
            database.defer("RELEASE posthorn_unit");
        return true;
    }
    one.forget_rows();
    database.defer("ROLLBACK TO posthorn_unit");
    database.defer("RELEASE posthorn_unit");
    return database.flush().has_value();
}

void group::begin(session& on) {
    auto& database = on.database();
    database.defer("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
    on.refresh_plans();
    if (on.transaction().keys().must_look_again()) {
        // If this fails, no harm is done: order is looked after every few minutes anyway.
        database.defer("SAVEPOINT posthorn_look");
        const auto looked = on.transaction().keys().look_again();
        database.defer(looked ? "RELEASE posthorn_look" : "ROLLBACK TO posthorn_look");
        if (!looked) on.transaction().keys().look_later();
    }
}

group::outcome group::commit(session& on, std::span<member> members, std::int64_t number) {
    if (!caution_.is_called_for() && std::ranges::count_if(members, is_running) > 1)
        if (const auto end = commit_bare(on, members, number)) return {*end, members.size()};
    return commit_in_savepoints(on, members, number);
}

std::optional<commit_end> group::commit_bare(session& on, std::span<member> members,
                                             std::int64_t number) {
    begin(on);
    if (!run_all_bare(on, members)) {
        caution_.note_failure();
        return take_all_back(on, members);
    }
    const auto end = conclude(on, members, number);
    if (end == commit_end::lost) caution_.note_failure();
    return end;
}

bool group::run_all_bare(session& on, std::span<member> members) {
    auto& database = on.database();
    if (!insert_ahead(on, members)) return false;
    std::chrono::milliseconds longest{};
    for (auto& one : members) {
        if (one.settled) continue;
        if (!run_bare(on, one)) return false;
        longest = std::max(longest, one.work.limit);
        if (database.has_long_line() && !flush_within(on, longest)) return false;
    }
    if (database.has_line() && !flush_within(on, longest)) return false;
    return on.transaction().inbox().end_ahead();
}

bool group::insert_ahead(session& on, std::span<member> members) {
    std::vector<inbox_record> rows;
    std::chrono::milliseconds longest{};
    for (auto& one : members) {
        if (one.settled || !one.work.inserts_first) continue;
        longest = std::max(longest, one.work.limit);
        if (auto row = one.work.inserts_first()) rows.push_back(*row);
    }
    if (rows.size() < 2) return true;
    on.database().set_deadline(time_.steady() + longest);
    const auto inserted = on.transaction().inbox().insert_ahead(rows);
    on.database().set_deadline(std::nullopt);
    return inserted.has_value();
}

bool group::flush_within(session& on, std::chrono::milliseconds limit) {
    on.database().set_deadline(time_.steady() + limit);
    const auto flushed = on.database().flush();
    on.database().set_deadline(std::nullopt);
    return flushed.has_value();
}

// False for a session that is lost, as is one that cannot do that.
bool group::roll_back(session& on) {
    auto& database = on.database();
    database.drop_line();
    database.defer("ROLLBACK");
    std::ignore = database.flush();
    return !database.is_lost();
}

std::optional<commit_end> group::take_all_back(session& on, std::span<member> members) {
    std::ignore = on.transaction().inbox().end_ahead();
    if (on.database().is_lost()) return commit_end::lost;
    const bool is_back = roll_back(on);
    for (auto& each : members) {
        if (each.settled) continue;
        each.outcome = {};
        each.forget_rows();
    }
    return is_back ? std::nullopt : std::optional(commit_end::lost);
}

bool group::run_bare(session& on, member& one) {
    auto& database = on.database();
    auto& transaction = on.transaction();
    transaction.begin_unit(false);
    one.forget_rows();  // Of an earlier run.
    one.outcome = run_work(on, one);
    database.set_deadline(std::nullopt);
    take_rows(one, transaction);
    return one.outcome && !transaction.broken() && !database.is_lost() && !database.is_spoilt();
}

group::outcome group::commit_in_savepoints(session& on, std::span<member> members,
                                           std::int64_t number) {
    auto& database = on.database();
    const bool is_shared = std::ranges::count_if(members, is_running) > 1;
    begin(on);
    std::size_t done = 0;
    int savepoints = 0;
    for (; done < members.size() && savepoints < savepoints_max; ++done) {
        auto& one = members[done];
        if (one.settled) continue;
        if (!run(on, one, is_shared)) {
            if (database.is_lost() && is_shared) return {commit_end::lost, members.size()};
            if (!database.is_lost()) std::ignore = roll_back(on);
            if (one.outcome)
                one.outcome = fail(error_code::store_unavailable,
                                   "the connection was lost before the commit; try again");
            return {is_shared ? commit_end::lost : commit_end::refused, members.size()};
        }
        savepoints += on.transaction().savepoints();
    }
    return {conclude(on, members.first(done), number), done};
}

commit_end group::conclude(session& on, std::span<member> members, std::int64_t number) {
    auto& database = on.database();
    std::ignore = log_changes(on.transaction().log(), members, time_.wall());
    on.count_commit(number, time_.wall());
    database.defer("COMMIT");
    const auto committed = database.flush();
    if (committed && committed->done() == "COMMIT") {
        on.transaction().keys().has_looked();
        return commit_end::committed;
    }
    if (database.is_lost()) return commit_end::in_doubt;
    const result<> refused =
        committed ? fail(error_code::statement_failed, "the transaction was rolled back")
                  : result<>(std::unexpected(committed.error()));
    const bool was_busy = is_busy(database);
    std::ignore = roll_back(on);
    std::size_t running = 0;
    for (auto& one : members) {
        if (one.settled) continue;
        ++running;
        one.forget_rows();
        one.outcome = refused;
        one.gave_way = was_busy;
    }
    return running > 1 ? commit_end::lost : commit_end::refused;
}

}  // namespace posthorn::postgres
