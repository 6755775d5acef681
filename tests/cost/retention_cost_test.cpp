// What it costs others that old rows are deleted.
#include <algorithm>
#include <atomic>
#include <future>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "cost/old_database.hpp"
#include "cost/sqlite_steps.hpp"
#include "store/upkeep/purger.hpp"

namespace posthorn::cost {
namespace {

using namespace std::chrono_literals;

constexpr int rows = 1'000'000;

double in_ms(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Goes on with what SQLite's machine does, about as fast as it does it: neither a neighbour nor a slow
/// machine makes a slice longer.
class work_clock final : public clock {
public:
    static constexpr auto step = 50ns;

    [[nodiscard]] wall_time wall() const override { return real_.wall(); }
    [[nodiscard]] steady_time steady() const override { return steady_time{step * steps_taken()}; }

private:
    real_clock real_;
};

/// The work for which slices of a purge held the writer.
struct holds {
    std::chrono::nanoseconds longest{}, all{};
    std::size_t slices = 0;
    std::size_t purged = 0;
};

holds purge_all(store& where, row_kind kind) {
    const work_clock time;
    const slice_options options;
    const auto before = time.wall();
    holds seen;
    slice_outcome done{.more = true};
    for (std::size_t size = options.rows_first; done.more;) {
        std::chrono::nanoseconds held{};
        std::promise<result<>> answer;
        where.submit({.work = [&](store_transaction& tx) -> result<> {
                          const slice room(time, size, options.time_max);
                          const auto purged = tx.old().purge(kind, before, room);
                          POSTHORN_TRY(purged);
                          done = *purged;
                          held = room.held();
                          return {};
                      },
                      .done = [&](result<> outcome) { answer.set_value(std::move(outcome)); }});
        value_or_throw(answer.get_future().get());
        seen.longest = std::max(seen.longest, held);
        seen.all += held;
        ++seen.slices;
        seen.purged += done.rows;
        size = next_slice_rows({size, done.rows, held}, options);
    }
    return seen;
}

TEST(retention_cost, no_slice_of_a_million_rows_does_more_work_than_fits_ten_milliseconds) {
    watch_steps();
    const conformance::temporary_directory place;
    const auto path = place.path() / "orders.db";
    make_database(path, {.sent = rows / 2, .dead = rows / 2});
    const auto idle = open_node("orders", path.string());
    for (const auto kind : {row_kind::sent, row_kind::dead}) {
        const auto seen = purge_all(idle->core().store(), kind);
        fmt::print("{} {} rows in {} slices, the longest of {} steps, {} steps a row\n",
                   seen.purged, to_string(kind), seen.slices, seen.longest / work_clock::step,
                   seen.all / work_clock::step * 2 / rows);
        EXPECT_EQ(seen.purged, static_cast<std::size_t>(rows / 2));
        EXPECT_GT(seen.slices, 100U);  // Otherwise nothing was counted.
        EXPECT_LT(seen.longest, 10ms);
    }
}

/// Goes on by as much whenever it is asked.
class ticking_clock final : public clock {
public:
    static constexpr auto tick = 50us;

    [[nodiscard]] wall_time wall() const override { return real_.wall(); }
    [[nodiscard]] steady_time steady() const override { return steady_time{tick * ++ticks_}; }

private:
    real_clock real_;
    mutable std::atomic<std::int64_t> ticks_ = 0;
};

/// Rests by writing it down, and how long was worked before.
class rest_book final : public timer {
public:
    explicit rest_book(const clock& time) : time_(time), back_(time.steady()) {}

    task<result<>> sleep_for(std::chrono::nanoseconds delay) override {
        const auto worked = time_.steady() - back_;
        work += worked;
        work_longest = std::max(work_longest, worked);
        rest += delay;
        ++rests;
        back_ = time_.steady();
        co_return result<>{};
    }

    std::chrono::nanoseconds work{}, work_longest{}, rest{};
    int rests = 0;

private:
    const clock& time_;
    steady_time back_;
};

// A clock that goes on with each row asked about stands for rows that are slow to delete.
TEST(retention_cost, a_slice_ends_with_its_time_and_leaves_nine_tenths_of_the_writer_to_others) {
    constexpr int some = 20'000;
    const conformance::temporary_directory place;
    const auto path = place.path() / "orders.db";
    make_database(path, {.sent = some});
    const auto idle = open_node("orders", path.string());
    const ticking_clock time;
    rest_book rests(time);
    io_threads threads("purge");
    purger old(idle->core().store(), time, rests);
    auto purging = start(threads.executor(), old.purge(row_kind::sent, time.wall() - 24h));
    EXPECT_EQ(value_or_throw(purging.get()), some);
    fmt::print("{} slices, the longest {:.2f} ms; {:.0f} ms of rest for {:.0f} ms of work\n",
               rests.rests + 1, in_ms(rests.work_longest), in_ms(rests.rest), in_ms(rests.work));
    EXPECT_GT(rests.rests, 20);  // Otherwise there were no slices.
    EXPECT_LT(rests.work_longest, slice_options{}.time_max + 5 * ticking_clock::tick);
    // The clock is asked for more than the slices are: by who writes it down.
    EXPECT_GT(rests.rest, 8 * rests.work);
}

}  // namespace
}  // namespace posthorn::cost
