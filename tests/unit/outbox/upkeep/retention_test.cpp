// Rows are deleted by their age, which a clock that has jumped does not know.
#include "outbox/upkeep/retention.hpp"

#include <algorithm>
#include <ranges>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "support/test_environment.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class outbox_retention_test : public ::testing::Test {
protected:
    ~outbox_retention_test() override {
        running.cancel();
        loop.run_for(1ms);
    }

    void run(retention_options options = {}) {
        retention.emplace(env, store, options);
        running.spawn(retention->run());
    }
    /// How often rows of a kind were asked to be deleted.
    [[nodiscard]] auto purges(row_kind kind) const {
        return std::ranges::count(store.tables.purges, kind, &test::memory_tables::purge::kind);
    }

    virtual_loop loop;
    test::memory_store store{loop.time()};
    logger log = logger::null();
    test::test_environment env{loop, log};
    std::optional<outbox_retention> retention;
    task_group running{loop.executor()};
};

TEST_F(outbox_retention_test, looks_for_old_rows_every_five_minutes) {
    run();
    loop.run_for(4min);
    EXPECT_EQ(purges(row_kind::sent), 0);
    loop.run_for(7min);
    EXPECT_EQ(purges(row_kind::sent), 2);
}

TEST_F(outbox_retention_test, keeps_each_kind_for_its_own_time) {
    run({.sent = 1h, .dead = 2h, .expired = 3h, .resolved = 4h, .changes = 5h});
    const auto begun = loop.time().wall();
    loop.run_for(5min + 1s);
    ASSERT_EQ(store.tables.purges.size(), 5U);
    const auto kinds = {row_kind::sent, row_kind::dead, row_kind::expired, row_kind::resolved,
                        row_kind::changes};
    auto kept = 0h;
    for (const auto kind : kinds) {
        kept += 1h;
        const auto asked =
            std::ranges::find(store.tables.purges, kind, &test::memory_tables::purge::kind);
        ASSERT_NE(asked, store.tables.purges.end()) << to_string(kind);
        EXPECT_EQ(asked->before, begun + 5min - kept) << to_string(kind);
    }
}

TEST_F(outbox_retention_test, keeps_what_was_sent_for_as_long_as_others_need_it) {
    std::chrono::milliseconds needed = 3h;
    run({.sent = 1h, .sent_at_least = [&needed] { return needed; }});
    const auto before = [&] {
        loop.run_for(5min);
        const auto asked = std::ranges::find(store.tables.purges | std::views::reverse,
                                             row_kind::sent, &test::memory_tables::purge::kind);
        return loop.time().wall() - asked->before;
    };
    loop.run_for(1s);
    EXPECT_EQ(std::chrono::round<std::chrono::minutes>(before()), 3h);
    needed = 0ms;
    EXPECT_EQ(std::chrono::round<std::chrono::minutes>(before()), 1h);
}

TEST_F(outbox_retention_test, deletes_no_dead_message_unless_it_is_told_to) {
    run();
    loop.run_for(1h);
    EXPECT_EQ(purges(row_kind::dead), 0);
    EXPECT_GT(purges(row_kind::expired), 0);
    EXPECT_GT(purges(row_kind::resolved), 0);
    EXPECT_GT(purges(row_kind::changes), 0);
}

TEST_F(outbox_retention_test, gives_room_back_after_it_has_purged_unless_it_is_told_not_to) {
    run();
    loop.run_for(11min);
    EXPECT_EQ(store.tables.given_back, 2);
}

TEST_F(outbox_retention_test, gives_no_room_back_where_it_is_told_not_to) {
    run({.vacuum = vacuum_mode::never});
    loop.run_for(11min);
    EXPECT_EQ(purges(row_kind::sent), 2);
    EXPECT_EQ(store.tables.given_back, 0);
}

TEST_F(outbox_retention_test, rests_after_each_slice_and_goes_on_until_none_is_left) {
    store.tables.slices_left = 3;
    run();
    loop.run_for(5min);
    EXPECT_EQ(purges(row_kind::sent), 1);
    loop.run_for(1ms);
    EXPECT_EQ(purges(row_kind::sent), 2);
    loop.run_for(1s);
    EXPECT_EQ(purges(row_kind::sent), 4);  // Three with rows, and one that found none.
    EXPECT_EQ(purges(row_kind::changes), 1);
}

TEST_F(outbox_retention_test, looks_through_all_at_the_start_and_then_through_a_part_each_time) {
    store.tables.looks_to_end = 230;
    run();
    loop.run_for(4min);
    EXPECT_EQ(store.tables.looks.size(), 230U);
    for (const std::size_t more : {50U, 100U, 150U, 200U, 230U, 280U}) {
        loop.run_for(5min);
        EXPECT_EQ(store.tables.looks.size(), 230U + more);
    }
    // However few of them were to be mended.
    EXPECT_THAT(store.tables.looks, testing::Each(1'000U));
}

TEST_F(outbox_retention_test, goes_on_with_the_next_kind_where_one_fails) {
    store.failures.emplace_back(error_code::store_busy, "locked");
    run();
    loop.run_for(6min);
    EXPECT_GT(purges(row_kind::changes), 0);
}

TEST_F(outbox_retention_test, deletes_nothing_for_an_hour_after_the_clock_has_jumped) {
    run();
    loop.run_for(6min);
    loop.time().jump_wall(365 * 24h);
    loop.run_for(55min);
    EXPECT_EQ(purges(row_kind::sent), 1);
    loop.run_for(30min);
    EXPECT_GT(purges(row_kind::sent), 1);
}

}  // namespace
}  // namespace posthorn
