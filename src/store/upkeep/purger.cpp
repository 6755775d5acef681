#include "store/upkeep/purger.hpp"

#include <utility>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {

purger::purger(store& where, const clock& time, timer& sleeper, slice_options options)
    : store_(where), clock_(time), timer_(sleeper), options_(options), pages_(options.rows_first) {
    rows_.fill(options.rows_first);
}

task<result<std::int64_t>> purger::purge(row_kind kind, wall_time before) {
    return repeat(
        [kind, before](old_rows& old, const slice& room) { return old.purge(kind, before, room); },
        rows_[static_cast<std::size_t>(kind)]);
}

task<result<std::int64_t>> purger::shorten_received(std::chrono::milliseconds life_max,
                                                    wall_time now) {
    std::size_t rows = 1'000;
    co_return co_await repeat(
        [life_max, now](old_rows& old, const slice& room) {
            return old.shorten_received(life_max, now, room);
        },
        rows);
}

task<result<std::int64_t>> purger::give_back() {
    return repeat([](old_rows& old, const slice& room) { return old.give_back(room); }, pages_);
}

task<result<std::int64_t>> purger::remove_orphans() {
    std::size_t rows_looked_at = 1'000;  // Of each table, in one slice.
    co_return co_await repeat(
        [](old_rows& old, const slice& room) { return old.remove_orphans(room); }, rows_looked_at);
}

task<result<std::int64_t>> purger::repeat(work_type work, std::size_t& rows) {
    std::int64_t total = 0;
    for (;;) {
        slice_outcome done;
        slice_seen seen{.rows_asked = rows};
        POSTHORN_CO_TRY(co_await commit(store_, [&](store_transaction& tx) -> result<> {
            const slice room(clock_, rows, options_.time_max);
            const auto outcome = work(tx.old(), room);
            POSTHORN_TRY(outcome);
            done = *outcome;
            seen.held = room.held();
            return {};
        }));
        seen.rows_done = done.rows;
        total += static_cast<std::int64_t>(done.rows);
        rows = next_slice_rows(seen, options_);
        if (!done.more || co_await is_cancelled()) co_return total;
        if (!co_await timer_.sleep_for(rest_after(seen.held, options_))) co_return total;
    }
}

}  // namespace posthorn
