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

// What a slice costs follows the rows that it looks at, and few of them are mended, if any: there is
// nothing to learn from for the next.
task<result<std::int64_t>> purger::mend_beside(std::size_t slices_max) {
    constexpr std::size_t rows_looked_at = 1'000;
    const work_type work = [](old_rows& old, const slice& room) { return old.mend_beside(room); };
    std::int64_t total = 0;
    for (std::size_t slices = 0; slices < slices_max; ++slices) {
        const auto one = co_await run(work, rows_looked_at);
        POSTHORN_CO_TRY(one);
        total += static_cast<std::int64_t>(one->done.rows);
        if (!one->done.more || co_await is_cancelled()) break;
        if (!co_await timer_.sleep_for(rest_after(one->seen.held, options_))) break;
    }
    co_return total;
}

task<result<std::int64_t>> purger::repeat(work_type work, std::size_t& rows) {
    std::int64_t total = 0;
    for (;;) {
        const auto one = co_await run(work, rows);
        POSTHORN_CO_TRY(one);
        total += static_cast<std::int64_t>(one->done.rows);
        rows = next_slice_rows(one->seen, options_);
        if (!one->done.more || co_await is_cancelled()) co_return total;
        if (!co_await timer_.sleep_for(rest_after(one->seen.held, options_))) co_return total;
    }
}

task<result<purger::one_slice>> purger::run(const work_type& work, std::size_t rows) {
    one_slice one{.seen = {.rows_asked = rows}};
    POSTHORN_CO_TRY(co_await commit(store_, [&](store_transaction& tx) -> result<> {
        const slice room(clock_, rows, options_.time_max);
        const auto outcome = work(tx.old(), room);
        POSTHORN_TRY(outcome);
        one.done = *outcome;
        one.seen.held = room.held();
        return {};
    }));
    one.seen.rows_done = one.done.rows;
    co_return one;
}

}  // namespace posthorn
