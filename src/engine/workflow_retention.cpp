#include "engine/workflow_retention.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

/// Deletes the last steps of an instance; how many.
result<std::int64_t> delete_steps(store_transaction& tx, std::int64_t instance, std::size_t count) {
    return change(tx,
                  "DELETE FROM workflow_history WHERE instance = ? AND (run, step) IN"
                  " (SELECT run, step FROM workflow_history WHERE instance = ?"
                  " ORDER BY run DESC, step DESC LIMIT ?)",
                  instance, instance, static_cast<std::int64_t>(count));
}

/// An ended instance has none of these, unless a program put them there.
result<> delete_rest(store_transaction& tx, std::int64_t instance) {
    for (const std::string_view table :
         {"workflow_mailbox", "workflow_calls", "workflow_waits", "workflow_timers",
          "workflow_runs", "workflow_watches", "workflow_requests", "workflow_instances"})
        POSTHORN_TRY(change(tx, fmt::format("DELETE FROM {} WHERE instance = ?", table), instance));
    return {};
}

result<std::vector<std::int64_t>> find_ended(store_transaction& tx, instance_status how,
                                             wall_time before, std::size_t count) {
    std::vector<std::int64_t> found;
    POSTHORN_TRY(ask(
        tx,
        "SELECT instance FROM workflow_instances WHERE status = ? AND ended_at < ?"
        " ORDER BY ended_at LIMIT ?",
        [&](const sql_row& row) { found.push_back(row.integer(0)); }, to_string(how),
        std::int64_t{before.time_since_epoch().count()}, static_cast<std::int64_t>(count)));
    return found;
}

}  // namespace

result<slice_outcome> purge_ended(store_transaction& tx, instance_status how, wall_time before,
                                  const slice& room) {
    slice_outcome done;
    POSTHORN_LET(found, find_ended(tx, how, before, room.rows()));
    for (const auto instance : found) {
        done.more = true;  // Until there was room for all of them.
        if (done.rows >= room.rows() || room.is_over()) return done;
        const auto left = room.rows() - done.rows;
        POSTHORN_LET(steps, delete_steps(tx, instance, left));
        done.rows += static_cast<std::size_t>(steps);
        if (std::cmp_greater_equal(steps, left)) return done;
        POSTHORN_TRY(delete_rest(tx, instance));
        ++done.rows;
    }
    done.more = found.size() == room.rows();
    return done;
}

result<std::vector<std::int64_t>> find_spent_signals(store_reader& from, wall_time before,
                                                     std::size_t count) {
    std::vector<std::int64_t> found;
    POSTHORN_TRY(ask(
        from,
        "SELECT s.seq FROM workflow_signals s WHERE s.received_at < ? AND s.matched_at IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM workflow_unclaimed u WHERE u.seq = s.seq)"
        " AND s.seq NOT IN (SELECT signal FROM workflow_mailbox WHERE signal IS NOT NULL)"
        " AND NOT EXISTS (SELECT 1 FROM workflow_requests r WHERE r.signal = s.seq)"
        " ORDER BY s.received_at LIMIT ?",
        [&](const sql_row& row) { found.push_back(row.integer(0)); },
        std::int64_t{before.time_since_epoch().count()}, static_cast<std::int64_t>(count)));
    return found;
}

task<> workflow_retention::run() {
    std::ignore = clocks_.jumped();  // From now on it is watched.
    while (co_await env_.timer.sleep_for(options_.interval)) {
        if (clocks_.jumped()) continue;
        if (const auto done = co_await purge(); !done)
            env_.log.warn("Workflow: purging old rows failed, will try again: {Error}",
                          {{"Error", done.error().what()}});
    }
}

task<result<>> workflow_retention::purge() {
    const std::array all{std::pair(instance_status::completed, options_.completed),
                         std::pair(instance_status::cancelled, options_.cancelled),
                         std::pair(instance_status::failed, options_.failed)};
    for (const auto& [how, kept] : all)
        if (kept) POSTHORN_CO_TRY(co_await purge_all(how, *kept));
    if (options_.signals) POSTHORN_CO_TRY(co_await purge_signals(*options_.signals));
    co_return result<>{};
}

task<result<>> workflow_retention::purge_all(instance_status how, std::chrono::milliseconds kept) {
    const auto before = env_.clock.wall() - kept;
    std::size_t rows = options_.slices.rows_first;
    for (;;) {
        slice_outcome done;
        slice_seen seen{.rows_asked = rows};
        POSTHORN_CO_TRY(co_await commit(where_, [&](store_transaction& tx) -> result<> {
            const slice room(env_.clock, rows, options_.slices.time_max);
            POSTHORN_LET(outcome, purge_ended(tx, how, before, room));
            done = outcome;
            seen.held = room.held();
            return {};
        }));
        seen.rows_done = done.rows;
        rows = next_slice_rows(seen, options_.slices);
        if (!done.more || co_await is_cancelled()) co_return result<>{};
        if (!co_await env_.timer.sleep_for(rest_after(seen.held, options_.slices)))
            co_return result<>{};
    }
}

task<result<>> workflow_retention::purge_signals(std::chrono::milliseconds kept) {
    const auto before = env_.clock.wall() - kept;
    std::size_t rows = options_.slices.rows_first;
    for (;;) {
        std::vector<std::int64_t> spent;
        POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, find_spent_signals(from, before, rows));
            spent = std::move(found);
            return {};
        }));
        if (spent.empty()) co_return result<>{};
        slice_seen seen{.rows_asked = rows};
        POSTHORN_CO_TRY(co_await commit(where_, [&](store_transaction& tx) -> result<> {
            const slice room(env_.clock, rows, options_.slices.time_max);
            std::size_t gone = 0;
            for (const auto seq : spent) {
                if (room.is_over()) break;
                POSTHORN_TRY(change(tx, "DELETE FROM workflow_signals WHERE seq = ?", seq));
                ++gone;
            }
            seen.rows_done = gone;
            seen.held = room.held();
            return {};
        }));
        rows = next_slice_rows(seen, options_.slices);
        if (co_await is_cancelled()) co_return result<>{};
        if (!co_await env_.timer.sleep_for(rest_after(seen.held, options_.slices)))
            co_return result<>{};
    }
}

}  // namespace posthorn
