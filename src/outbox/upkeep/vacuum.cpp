#include "outbox/upkeep/vacuum.hpp"

#include <array>
#include <tuple>

#include "base/async/run_on.hpp"
#include "store/async.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {

using namespace std::chrono_literals;

bool is_vacuum_due(const vacuum_facts& facts) {
    constexpr auto every = std::chrono::days{7};
    constexpr auto patience = std::chrono::days{1};
    constexpr std::uint64_t units_few = 300;  // In a minute; the lease alone beats some.
    const auto age = facts.now - facts.last;
    return age >= every + patience || (age >= every && facts.units_lately < units_few);
}

task<> weekly_vacuum::run() {
    std::ignore = clocks_.jumped();
    auto units = where_.units_done();
    while (co_await env_.timer.sleep_for(1min)) {
        const auto before = std::exchange(units, where_.units_done());
        if (clocks_.jumped()) continue;
        if (const auto done = co_await look(units - before); !done)
            env_.log.warn("Store: the weekly vacuum failed, will try again: {Error}",
                          {{"Error", done.error().what()}});
    }
}

task<result<>> weekly_vacuum::look(std::uint64_t units_lately) {
    const auto now = env_.clock.wall();
    const bool is_known = known_ != wall_time{};
    if (is_known && !is_vacuum_due({known_, now, units_lately})) co_return result<>{};
    const auto last = co_await last_time();  // Another node may have done it meanwhile.
    POSTHORN_CO_TRY(last);
    known_ = *last;
    // A week from now on; also where a program, or a clock that was ahead, has left another time.
    if (*last == wall_time{} || *last > now) co_return co_await note(now);
    if (!is_vacuum_due({*last, now, units_lately})) co_return result<>{};
    const auto begun = env_.clock.steady();
    if (auto done = co_await run_on(env_.readers, [this] { return file_.compact(); }); !done) {
        known_ = now - std::chrono::days{7} + 6h;  // It kept all others waiting; not again so soon.
        co_return done;
    }
    env_.log.info("Store: written anew in {Duration}",
                  {{"Duration", std::chrono::duration_cast<std::chrono::milliseconds>(
                                    env_.clock.steady() - begun)}});
    co_return co_await note(now);
}

task<result<wall_time>> weekly_vacuum::last_time() {
    wall_time last{};
    POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& from) {
        return from.query("SELECT value FROM posthorn_meta WHERE name = 'vacuumed_at'", {},
                          [&](const sql_row& row) { last = bounded_from_ms(row.integer(0)); });
    }));
    co_return last;
}

task<result<>> weekly_vacuum::note(wall_time when) {
    return commit(where_, [when](store_transaction& tx) -> result<> {
        const std::array<sql_param, 1> with{std::int64_t{when.time_since_epoch().count()}};
        return tx.run(
            "INSERT OR REPLACE INTO posthorn_meta (name, value) VALUES ('vacuumed_at', ?)", with);
    });
}

}  // namespace posthorn
