#include "store/postgres/group.hpp"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "store/inside_unit.hpp"

namespace posthorn::postgres {
namespace {

std::int64_t ns(steady_time time) { return time.time_since_epoch().count(); }

bool is_running(const member& one) { return !one.settled; }

}  // namespace

std::chrono::nanoseconds group::unit_age() const {
    const std::int64_t started = unit_started_ns_.load(std::memory_order_relaxed);
    return std::chrono::nanoseconds{started == 0 ? 0 : ns(time_.steady()) - started};
}

result<> group::run_work(session& on, member& one) {
    const auto now = time_.steady();
    unit_started_ns_.store(ns(now), std::memory_order_relaxed);
    on.database().set_deadline(now + one.work.limit);
    const inside_unit_mark mark;
    result<> outcome;
    try {
        outcome = one.work.work(on.transaction());
    } catch (const error& thrown) {
        outcome = std::unexpected(thrown);
    } catch (const std::exception& thrown) {
        outcome = fail(error_code::statement_failed, "the unit threw: {}", thrown.what());
    } catch (...) {
        outcome = fail(error_code::statement_failed, "the unit threw something unknown");
    }
    unit_started_ns_.store(0, std::memory_order_relaxed);
    return outcome;
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
    one.outcome = run_work(on, one);
    if (one.outcome) one.outcome = finish(on, is_shared);
    database.set_deadline(std::nullopt);
    one.enqueued = transaction.outbox().take_enqueued();
    one.released = transaction.outbox().take_released();
    one.received = transaction.inbox().take_received();
    if (database.is_lost()) return false;
    if (one.outcome) {
        if (!database.take_back(unit_transaction::unit_savepoint))
            database.defer("RELEASE posthorn_unit");
        return true;
    }
    one.enqueued.clear();
    one.released.clear();
    one.received.clear();
    database.defer("ROLLBACK TO posthorn_unit");
    database.defer("RELEASE posthorn_unit");
    return database.flush().has_value();
}

void group::log_changes(session& on, std::span<member> members) {
    std::vector<std::int64_t> enqueued;
    std::vector<std::int64_t> received;
    for (const auto& one : members) {
        for (const auto& row : one.enqueued) enqueued.push_back(row.seq);
        received.insert(received.end(), one.received.begin(), one.received.end());
    }
    const auto now = time_.wall();
    on.transaction().log().append("outbox.enqueued", std::move(enqueued), now);
    on.transaction().log().append("inbox.received", std::move(received), now);
}

void group::begin(session& on) {
    auto& database = on.database();
    database.defer("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
    if (on.transaction().outbox().must_look_again()) {
        // If this fails, nobody is the worse: order is looked after every few minutes anyway.
        database.defer("SAVEPOINT posthorn_look");
        const auto looked = on.transaction().outbox().look_again();
        database.defer(looked ? "RELEASE posthorn_look" : "ROLLBACK TO posthorn_look");
    }
}

group::outcome group::commit(session& on, std::span<member> members, std::int64_t number) {
    if (wary_ > 0)
        --wary_;
    else if (std::ranges::count_if(members, is_running) > 1)
        if (const auto end = commit_bare(on, members, number)) return {*end, members.size()};
    return commit_in_savepoints(on, members, number);
}

std::optional<commit_end> group::commit_bare(session& on, std::span<member> members,
                                             std::int64_t number) {
    constexpr int wary_groups = 64;
    begin(on);
    bool has_foreign_sql = false;
    if (!run_all_bare(on, members, has_foreign_sql)) {
        wary_ = wary_groups;
        return take_all_back(on, members);
    }
    const auto end = conclude(on, members, number, has_foreign_sql);
    if (end == commit_end::lost) wary_ = wary_groups;
    return end;
}

bool group::run_all_bare(session& on, std::span<member> members, bool& has_foreign_sql) {
    auto& database = on.database();
    if (!insert_ahead(on, members)) return false;
    std::chrono::milliseconds longest{};
    for (auto& one : members) {
        if (one.settled) continue;
        if (!run_bare(on, one)) return false;
        has_foreign_sql |= on.transaction().has_foreign_sql();
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

std::optional<commit_end> group::take_all_back(session& on, std::span<member> members) {
    auto& database = on.database();
    std::ignore = on.transaction().inbox().end_ahead();
    if (database.is_lost()) return commit_end::lost;
    database.drop_line();
    database.defer("ROLLBACK");
    std::ignore = database.flush();  // A session that cannot do that is lost.
    for (auto& each : members) {
        if (each.settled) continue;
        each.outcome = {};
        each.enqueued.clear();
        each.released.clear();
        each.received.clear();
    }
    return database.is_lost() ? std::optional(commit_end::lost) : std::nullopt;
}

bool group::run_bare(session& on, member& one) {
    auto& database = on.database();
    auto& transaction = on.transaction();
    transaction.begin_unit(false);
    one.outcome = run_work(on, one);
    database.set_deadline(std::nullopt);
    one.enqueued = transaction.outbox().take_enqueued();
    one.released = transaction.outbox().take_released();
    one.received = transaction.inbox().take_received();
    return one.outcome && !transaction.broken() && !database.is_lost() && !database.is_spoilt();
}

group::outcome group::commit_in_savepoints(session& on, std::span<member> members,
                                           std::int64_t number) {
    auto& database = on.database();
    const bool is_shared = std::ranges::count_if(members, is_running) > 1;
    begin(on);
    std::size_t done = 0;
    int savepoints = 0;
    bool has_foreign_sql = false;
    for (; done < members.size() && savepoints < savepoints_max; ++done) {
        auto& one = members[done];
        if (one.settled) continue;
        if (!run(on, one, is_shared)) {
            if (database.is_lost() && is_shared) return {commit_end::lost, members.size()};
            if (!database.is_lost()) {
                database.defer("ROLLBACK");
                const auto undone = database.flush();
                static_cast<void>(undone);  // A session that cannot do that is lost.
            }
            if (one.outcome)
                one.outcome = fail(error_code::store_unavailable,
                                   "the connection was lost before the commit; try again");
            return {is_shared ? commit_end::lost : commit_end::refused, members.size()};
        }
        savepoints += on.transaction().savepoints();
        has_foreign_sql |= on.transaction().has_foreign_sql();
    }
    return {conclude(on, members.first(done), number, has_foreign_sql), done};
}

commit_end group::conclude(session& on, std::span<member> members, std::int64_t number,
                           bool has_foreign_sql) {
    auto& database = on.database();
    log_changes(on, members);
    // A unit may have changed it through a function.
    if (has_foreign_sql)
        database.defer(
            "SELECT set_config('synchronous_commit', 'on', true)"
            " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')");
    on.count_commit(number, time_.wall());
    database.defer("COMMIT");
    const auto committed = database.flush();
    if (committed && committed->done() == "COMMIT") return commit_end::committed;
    if (database.is_lost()) return commit_end::in_doubt;
    const result<> refused =
        committed ? fail(error_code::statement_failed, "the transaction was rolled back")
                  : result<>(std::unexpected(committed.error()));
    database.defer("ROLLBACK");
    const auto undone = database.flush();
    static_cast<void>(undone);
    std::size_t running = 0;
    for (auto& one : members) {
        if (one.settled) continue;
        ++running;
        one.enqueued.clear();
        one.released.clear();
        one.outcome = refused;
    }
    return running > 1 ? commit_end::lost : commit_end::refused;
}

}  // namespace posthorn::postgres
