#include "store/sqlite/commit/writer.hpp"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "base/planted.hpp"

namespace posthorn::sqlite {

writer::writer(connection& database, group& commits, wal_guard& guard, disk_keeper& room,
               const clock& time, executor& thread, logger& log, writer_options options)
    : database_(database),
      group_(commits),
      guard_(guard),
      room_(room),
      time_(time),
      thread_(thread),
      log_(log),
      options_(options),
      units_now_(options.units_max),
      queue_(thread, time, [this] { work(); }, unit_queue::alone_units::share) {
    const auto note_pages = [](void* self, sqlite3*, const char*, int pages) -> int {
        static_cast<writer*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
    };
    sqlite3_wal_hook(database.handle(), note_pages, this);
}

bool writer::run_here(unit& work) noexcept {
    if (options_.shared) return false;  // Others would find no gap between two such commits.
    if (!queue_.submit_here(work)) return false;
    {
        const std::scoped_lock turn(turn_);
        // Empty if the store has failed while it was waited for.
        if (auto members = queue_.take(units_now_); !members.empty()) commit(std::move(members));
    }
    queue_.go_on(checkpoint_is_due());  // The caller has not asked for that.
    return true;
}

void writer::post(executor::job work) {
    thread_.post([this, work = std::move(work)]() mutable {
        const std::scoped_lock turn(turn_);
        work();
    });
}

void writer::work() {
    {
        const std::scoped_lock turn(turn_);
        held_ = {};
        if (auto members = queue_.take(units_now_); !members.empty()) commit(std::move(members));
        if (checkpoint_is_due() && !has_failed()) checkpoint();
    }
    leave_gap();
    queue_.go_on();
}

// What could not be answered is better refused than in doubt.
result<> writer::begin_commit() {
    if (options_.shipper != nullptr) POSTHORN_TRY(options_.shipper->ready());
    return begin();
}

// A WAL index that needs recovery needs the lock that the guard holds. A process that merely writes
// for long does not, and is just what the guard is there for.
result<> writer::begin() {
    auto begun = group_.begin();
    constexpr int tries_max = 10;
    for (int tries = 0; !begun && group_.needs_recovery() && tries < tries_max; ++tries) {
        if (!guard_.holds()) break;
        if (options_.shipper != nullptr) options_.shipper->let_go();
        guard_.release();
        begun = group_.begin();
    }
    if (!guard_.hold() && options_.shipper != nullptr) options_.shipper->let_go();
    return begun;
}

void writer::commit(std::vector<member> members) {
    switch (try_commit(members)) {
        case commit_end::lost:
            if (!POSTHORN_PLANTED(lost_group_called_done)) commit_alone(members);
            break;
        case commit_end::in_doubt: fail_stop(members.front().outcome.error()); break;
        case commit_end::committed:
        case commit_end::refused: break;
    }
    if (options_.shared) fit_group(members.size());
    watch_room(members);
    answer(members);
}

commit_end writer::try_commit(std::span<member> members) {
    if (auto begun = begin_commit(); !begun) {
        trouble_.note_failure(begun.error(), time_.steady());
        give_outcome(members, begun);
        return commit_end::refused;
    }
    if (const auto foreign = group_.changed_by_others(); foreign && *foreign)
        news_.foreign_commit();
    const auto begun = time_.steady();  // Waiting for the lock is not holding it.
    auto end = group_.run(members);
    if (!end) {
        announce(members);
        end = group_.commit(members);
    }
    held_ += time_.steady() - begun;
    return *end;
}

// Of many the first would be out before the last is packed; only one alone has to wait for it.
void writer::announce(std::span<const member> members) {
    const outbox_row* lone = nullptr;
    for (const auto& one : members) {
        if (one.enqueued.size() > 1 || (lone != nullptr && !one.enqueued.empty())) return;
        if (!one.enqueued.empty()) lone = &one.enqueued.front();
    }
    if (lone != nullptr) news_.committing(*lone);
}

void writer::commit_alone(std::vector<member>& members) {
    for (auto& one : members) {
        if (one.settled) continue;
        one.outcome = {};
        switch (try_commit({&one, 1})) {
            case commit_end::committed:
            case commit_end::refused: break;
            case commit_end::lost:
                if (one.outcome)
                    one.outcome = fail(error_code::statement_failed,
                                       "the unit's transaction could not be committed");
                break;
            case commit_end::in_doubt:
                fail_stop(one.outcome.error());
                one.settled = true;
                // These ran in the lost group alone, of which nothing was stored.
                for (auto& rest : members)
                    if (!rest.settled) rest.outcome = std::unexpected(*queue_.failure());
                return;
        }
        one.settled = true;
    }
}

// Before they are answered, so that a caller that tries again finds the room that the ballast had.
void writer::watch_room(std::span<const member> members) {
    units_done_ += members.size();
    room_.units_refused(static_cast<std::uint64_t>(std::ranges::count_if(members, [](auto& one) {
        return !one.outcome && one.outcome.error().code() == error_code::store_full;
    })));
}

void writer::answer(std::vector<member>& members) {
    std::vector<outbox_row> enqueued, released;
    bool announced = false;
    const auto now = time_.steady();
    for (auto& one : members) {
        trouble_.note(one.outcome, now);
        if (!one.outcome && !POSTHORN_PLANTED(dispatched_though_refused)) continue;
        std::ranges::move(one.enqueued, std::back_inserter(enqueued));
        std::ranges::move(one.released, std::back_inserter(released));
        announced |= one.announced;
    }
    news_.tell(std::move(enqueued), std::move(released), announced);
    for (auto& one : members)
        if (one.work.done) one.work.done(std::move(one.outcome));
    queue_.put_down();  // What follows may be a checkpoint.
}

void writer::fail_stop(const error& cause) {
    log_.error("Store: stopped, because what is on disk is in doubt: {Error}",
               {{"Error", cause.what()}});
    queue_.fail({error_code::store_failed,
                 "the store has stopped after a failed commit; restart the service"});
}

// Who waits for the lock as SQLite does looks again after 1 ms, then after 2, 5, 10 and 15. Held
// for a millisecond or two, and free for as long, it is free at one of the first looks.
void writer::fit_group(std::size_t units) {
    constexpr std::chrono::nanoseconds run_time_max = std::chrono::milliseconds{2};
    constexpr std::size_t units_min = 64;
    if (group_.run_time() > run_time_max)
        units_now_ = std::max(units_min, std::min(units, units_now_) / 2);
    else if (units == units_now_ && group_.run_time() < run_time_max / 2)
        units_now_ = std::min(options_.units_max, units_now_ * 2);
}

void writer::leave_gap() {
    if (!options_.shared) return;
    constexpr std::chrono::nanoseconds gap_min = std::chrono::microseconds{200};
    // SQLite's waiting has looked by then. As long as one slow unit held it would stall the node.
    constexpr std::chrono::nanoseconds gap_max = std::chrono::milliseconds{20};
    if (!queue_.has_units()) return;  // The lock is free anyway.
    thread_.rest(std::clamp(held_, gap_min, gap_max));
}

void writer::checkpoint() {
    if (!guard_.holds() || !begin()) return;
    const auto begun = time_.steady();
    const bool may_copy =
        options_.shipper == nullptr || options_.shipper->may_checkpoint(guard_.log_end());
    const auto done = may_copy ? guard_.checkpoint() : result<>();
    group_.roll_back();
    if (!done && done.error().code() == error_code::io_failed)
        fail_stop(done.error());  // The log that later commits build on may not be on disk.
    else if (!done)
        log_.warn("Store: checkpoint failed: {Error}", {{"Error", done.error().what()}});
    held_ += time_.steady() - begun;
    wal_pages_ = 0;
}

// VACUUM begins and ends its own transaction. It copies into a temporary database first, which
// would otherwise be in memory, as would the pages that it copies back; and from then on the file
// can be shrunk page by page.
result<> writer::compact() {
    if (auto failed = queue_.failure()) return std::unexpected(*std::move(failed));
    if (!guard_.hold())
        return fail(error_code::store_busy,
                    "a node, or another command, has this database; stop it first");
    if (options_.shipper != nullptr) POSTHORN_TRY(options_.shipper->ready());
    POSTHORN_TRY(
        database_.execute("PRAGMA temp_store = FILE; PRAGMA cache_spill = ON;"
                          "PRAGMA auto_vacuum = INCREMENTAL"));
    const auto done = database_.execute("VACUUM");
    POSTHORN_TRY(database_.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_spill = OFF"));
    if (!done && done.error().code() == error_code::io_failed) fail_stop(done.error());
    POSTHORN_TRY(done);
    checkpoint();  // Only that makes the file itself smaller.
    return {};
}

void writer::stop() {
    queue_.stop();
    const std::scoped_lock last(turn_);  // What was posted has answered, and may not have left yet.
}

}  // namespace posthorn::sqlite
