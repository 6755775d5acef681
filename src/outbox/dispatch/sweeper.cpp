#include "outbox/dispatch/sweeper.hpp"

#include <algorithm>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/planted.hpp"
#include "outbox/dispatch/batch_span.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> sweeper::run() {
    if (with_.options.round_rows) co_return co_await run_rounds();
    sweep_scope where{.everywhere = true};
    while (!co_await is_cancelled()) {
        watch_clock();
        const bool everywhere = where.everywhere;
        note(co_await sweep(std::move(where)), everywhere);
        if (everywhere) {
            with_.lanes.tend();
            with_.counters.lanes = with_.lanes.size();
            poll_at_ = with_.env.clock.steady() + with_.options.poll_interval;
            if (POSTHORN_PLANTED(sweeps_only_when_called)) poll_at_ = steady_time::max();
        }
        where = co_await rest();
    }
}

task<> sweeper::run_rounds() {
    while (!co_await is_cancelled()) {
        watch_clock();
        with_.lanes.tend();
        const auto asked = with_.rounds.take();
        if (!asked) {
            co_await with_.call.sleep(with_.env.timer, with_.options.poll_interval);
            continue;
        }
        const auto took = co_await take_round(*with_.options.round_rows);
        note(took ? result<>{} : std::unexpected(took.error()), true);
        co_await end_round();
        with_.counters.lanes = with_.lanes.size();
        (*asked)(took);
    }
}

task<result<std::size_t>> sweeper::take_round(std::size_t rows_max) {
    ++with_.counters.sweeps;
    const auto now = with_.env.clock.wall();
    POSTHORN_CO_TRY(co_await take_in());
    POSTHORN_CO_LET(destinations, co_await look_everywhere(now));
    result<> outcome;
    auto left = rows_max;
    // An even share for each; then what is left of it for those that have more.
    for (const bool evenly : {true, false}) {
        auto others = destinations.size();
        for (const auto& destination : destinations) {
            if (left == 0 || co_await is_cancelled()) break;
            const auto share = evenly ? std::max<std::size_t>(left / others--, 1) : left;
            const auto before = rows_found_;
            auto done = co_await read_destination(destination, now, share);
            left -= std::min(left, rows_found_ - before);
            if (done && bytes_found_ >= with_.options.sweep_bytes_max)
                done = co_await hand_over_found(now);
            if (outcome && !done) outcome = std::move(done);
        }
        auto handed = co_await hand_over_found(now);
        if (outcome && !handed) outcome = std::move(handed);
    }
    if (!outcome) co_return std::unexpected(std::move(outcome).error());
    co_return rows_max - left;
}

task<> sweeper::end_round() {
    const auto is_over = [this] {
        bool over = true;
        with_.lanes.for_each([&](lane& one) { over &= one.is_empty(); });
        return over;
    };
    while (!is_over() && !co_await is_cancelled()) {
        co_await with_.call.sleep(with_.env.timer, with_.options.poll_interval);
        with_.lanes.tend();
    }
}

// A look at some destinations alone says nothing of the rest.
void sweeper::note(const result<>& swept, bool everywhere) {
    if (swept) {
        if (everywhere) with_.board.went_well();
        return;
    }
    if (with_.board.failed(swept.error(), with_.env.clock.steady()))
        with_.env.log.warn("Outbox: the sweep failed, will try again: {Error}",
                           {{"Error", swept.error().what()}});
}

void sweeper::note_odd(const std::string& odd) {
    if (with_.board.took_in_all_but(odd))
        with_.env.log.warn("Outbox: a message cannot be taken in, and waits; others go on: {Odd}",
                           {{"Odd", odd}});
}

// Here, because the clock has to be watched. Said once for each jump.
void sweeper::watch_clock() {
    const bool jumped = with_.clocks.jumped();
    if (jumped && !told_of_jump_)
        with_.env.log.warn("Outbox: Clock has jumped; messages expire only once it is steady");
    told_of_jump_ = jumped;
}

task<sweep_scope> sweeper::rest() {
    for (;;) {
        auto where = with_.call.take_wanted();
        const auto wall = with_.env.clock.wall();
        with_.agenda.take_until(wall, where);
        const auto now = with_.env.clock.steady();
        where.everywhere |= now >= poll_at_;
        if (!where.empty() || co_await is_cancelled()) co_return where;
        std::chrono::nanoseconds limit = poll_at_ - now;
        if (const auto due = with_.agenda.next()) {
            // Compared in milliseconds: a due time may be further off than nanoseconds can say.
            const std::chrono::milliseconds until = *due - wall;
            if (until <= with_.options.poll_interval)
                limit = std::min<std::chrono::nanoseconds>(limit, until);
        }
        co_await with_.call.sleep(with_.env.timer, limit);
    }
}

task<result<>> sweeper::sweep(sweep_scope where) {
    ++with_.counters.sweeps;
    const auto now = with_.env.clock.wall();
    result<> outcome;  // The first that is bad.
    std::vector<std::string> destinations(where.destinations.begin(), where.destinations.end());
    if (where.everywhere) {
        with_.agenda.take_until(now, where);
        outcome = co_await take_in();
        auto due = co_await look_everywhere(now);
        if (!due) co_return std::unexpected(std::move(due).error());
        destinations = *std::move(due);
    }

    // One destination's trouble is not the others'.
    for (const auto& destination : destinations) {
        if (co_await is_cancelled()) break;
        auto done = co_await read_destination(destination, now);
        if (done && (rows_found_ >= with_.options.sweep_rows_max ||
                     bytes_found_ >= with_.options.sweep_bytes_max))
            done = co_await hand_over_found(now);
        if (outcome && !done) outcome = std::move(done);
    }
    // Also after a failure: what was found is closed, and handed over if it can be.
    auto handed = co_await hand_over_found(now);
    co_return outcome ? std::move(handed) : std::move(outcome);
}

task<result<std::vector<std::string>>> sweeper::look_everywhere(wall_time now) {
    std::vector<std::string> destinations;
    std::optional<wall_time> next;
    std::vector<paused_destination> paused;
    POSTHORN_CO_TRY(
        co_await read(with_.where, with_.env.readers, [&](store_reader& reader) -> result<> {
            POSTHORN_LET(due, reader.outbox().due_destinations(now));
            destinations = std::move(due);
            POSTHORN_LET(later, reader.outbox().next_due());
            next = later;
            POSTHORN_LET(shut, reader.outbox().paused());
            paused = std::move(shut);
            return {};
        }));
    with_.lanes.pause(paused);
    if (next && *next > now) with_.agenda.note_somewhere(*next);
    co_return destinations;
}

task<result<>> sweeper::take_in() {
    if (!with_.claims.are_needed()) co_return result<>{};
    const auto some = co_await with_.claims.have_arrivals(with_.env.readers);
    POSTHORN_CO_TRY(some);
    if (!*some) {
        note_odd({});
        co_return result<>{};
    }
    const auto rows_max = with_.options.claim_rows_max;
    // Of one tenant alone, and in rounds, nothing is claimed unseen: the look for what is due chooses.
    const bool takes_all = with_.options.tenant.empty() && !with_.options.round_rows;
    auto ours = takes_all ? with_.lanes.with_room_for(rows_max) : std::vector<std::string>{};
    POSTHORN_CO_LET(taken, co_await with_.claims.take_in(rows_max, std::move(ours)));
    if (taken.is_more) with_.call.want();
    note_odd(taken.odd);
    co_return result<>{};
}

task<result<>> sweeper::read_destination(const std::string& destination, wall_time now,
                                         std::size_t rows_max) {
    auto& to = with_.lanes.get(destination);
    auto limit = std::min(to.begin_read(), rows_max);
    if (limit == 0) co_return result<>{};
    // Others are to get a share; if there is more, it looks again at once.
    if (with_.claims.are_needed()) limit = std::min(limit, with_.options.claim_rows_max);
    const auto held = to.held();
    auto* const traces = tracing(with_.env.traces);
    const auto begun = with_.env.clock.steady();
    const auto begun_ns = traces != nullptr ? traces->now_ns() : 0;
    outbox_page page;
    auto outcome = co_await find_due({.destination = destination,
                                      .now = now,
                                      .limit = limit,
                                      .bytes_max = to.room_in_bytes(),
                                      .held = held,
                                      .tenant = with_.options.tenant,
                                      .newest_first = to.reads_newest()},
                                     page);
    if (!outcome) {
        count_batch(begun, 0);
        to.fail_read();
        co_return outcome;
    }
    const bool more = page.more;
    std::erase_if(page.rows, [&](const outbox_row& row) { return !to.wants(row.seq); });
    rows_found_ += page.rows.size();
    for (const auto& row : page.rows) bytes_found_ += bytes_of(row);
    for (const auto& row : page.parked) bytes_found_ += bytes_of(row);
    found_.push_back({&to, std::move(page), more, begun, begun_ns});
    co_return outcome;
}

void sweeper::count_batch(steady_time begun, std::size_t rows) {
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(with_.env.clock.steady() - begun);
    with_.counters.batch_us.record(static_cast<std::uint64_t>(took.count()));
    if (rows == 0) return;
    ++with_.counters.batches;
    with_.counters.batch_rows.record(rows);
}

task<result<>> sweeper::find_due(due_question asked, outbox_page& into) {
    if (with_.claims.are_needed()) return with_.claims.take(asked, into);
    return read(with_.where, with_.env.readers, [asked, &into](store_reader& reader) -> result<> {
        POSTHORN_LET(due, reader.outbox().due(asked));
        into = std::move(due);
        return {};
    });
}

task<result<>> sweeper::hand_over_found(wall_time now) {
    result<> safe;
    // A stop drops what was found; it stays in the table.
    const bool dropping = co_await is_cancelled();
    // What was claimed is past a sync: that of the claim.
    if (rows_found_ > 0 && !dropping && !with_.claims.are_needed())
        safe = co_await with_.guard.pass();
    rows_found_ = bytes_found_ = 0;
    for (auto& [to, page, store_has_more, begun, begun_ns] : std::exchange(found_, {})) {
        if (!dropping) count_batch(begun, safe ? page.rows.size() : 0);
        if (safe && !dropping) {
            if (auto* const traces = tracing(with_.env.traces))
                add_batch_span(*traces, to->destination(), page, begun_ns);
            std::vector<outbox_row> left;
            for (auto& row : page.rows) {
                // A producer of plain SQL may have said when and left the retry time at its
                // default.
                if (row.body.deliver_at && *row.body.deliver_at > now)
                    to->postpone(row, now);
                else if (to->is_for_others(to->offer(row)))
                    left.push_back(std::move(row));
            }
            with_.claims.let_go(left);
            to->pump();
        }
        if (!dropping) to->bury(page.bad);
        if (!dropping) to->park(std::move(page.parked), now);
        if (safe)
            to->end_read(store_has_more);
        else
            to->fail_read();
    }
    co_return safe;
}

}  // namespace posthorn
