#include "store/rules/old_rows_purge.hpp"

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class a_store final : public old_rows_purge<test::fake_driver> {
public:
    a_store(test::fake_connection& database, const clock& time)
        : old_rows_purge(database, time,
                         {.find = {.closed = {"find_closed"},
                                   .received = {"find_received"},
                                   .changes = {"find_changes"},
                                   .sent = {"find_sent"}},
                          .remove = {.message = {"remove_sent"},
                                     .closed_message = {"remove_message"},
                                     .closed = {"remove_closed"},
                                     .received = {"remove_received"},
                                     .changes = {"remove_changes"}},
                          .shorten = {"shorten"}}) {}

private:
    result<found> find_sent(wall_time, std::size_t) override {
        return found{.keys = {1, 2}, .more = true};
    }
    result<std::size_t> remove_sent(numbers keys) override { return keys.size(); }
};

class old_rows_of_a_store : public ::testing::Test {
protected:
    /// So many rows, of which those before `old` are.
    void find(const std::string& name, std::int64_t rows, std::int64_t old) {
        std::vector<std::vector<test::fake_row::value>> all;
        for (std::int64_t i = 0; i < rows; ++i) all.push_back({i, std::int64_t{i < old ? 1 : 0}});
        database.answer_rows(name, std::move(all));
    }
    /// What each statement after the other deletes; the last one stays.
    void remove(const std::string& name, std::initializer_list<std::int64_t> rows) {
        for (const auto count : rows) database.change(name, count);
    }
    result<slice_outcome> try_purge(row_kind kind, std::size_t rows) {
        const slice room(still, rows, 1ms);
        return rows_.purge(kind, wall_time{5ms}, room);
    }
    slice_outcome purge(row_kind kind, std::size_t rows, const clock& time) {
        const slice room(time, rows, 1ms);
        return rows_.purge(kind, wall_time{5ms}, room).value();
    }

    test::fake_connection database;
    test::fake_clock still;

private:
    a_store rows_{database, still};
};

TEST_F(old_rows_of_a_store, go_in_statements_that_grow_up_to_what_the_store_takes) {
    find("find_received", 19, 19);
    remove("remove_received", {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 1});
    const auto done = purge(row_kind::received, 20, still);
    EXPECT_EQ(done.rows, 19U);
    EXPECT_FALSE(done.more);
    EXPECT_THAT(database.take(),
                ElementsAre("find_received(5, 20)", "remove_received([0])", "remove_received([1])",
                            "remove_received([2])", "remove_received([3])", "remove_received([4])",
                            "remove_received([5])", "remove_received([6])", "remove_received([7])",
                            "remove_received([8 9])", "remove_received([10 11])",
                            "remove_received([12 13 14])", "remove_received([15 16 17])",
                            "remove_received([18])"));
}

TEST_F(old_rows_of_a_store, are_left_for_the_next_slice_when_the_time_is_over) {
    find("find_received", 4, 4);
    remove("remove_received", {1});
    const test::fake_clock slow(400us);
    const auto done = purge(row_kind::received, 20, slow);
    EXPECT_EQ(done.rows, 3U) << "one at least, and as many as there was time for";
    EXPECT_TRUE(done.more);
}

TEST_F(old_rows_of_a_store, may_be_more_if_the_slice_was_full) {
    find("find_received", 2, 2);
    remove("remove_received", {1});
    EXPECT_TRUE(purge(row_kind::received, 2, still).more);
}

TEST_F(old_rows_of_a_store, take_along_what_lies_before_an_old_one_and_leave_what_is_younger) {
    database.answer_rows("find_changes", {{std::int64_t{1}, std::int64_t{0}},
                                          {std::int64_t{2}, std::int64_t{1}},
                                          {std::int64_t{3}, std::int64_t{0}}});
    remove("remove_changes", {1});
    EXPECT_EQ(purge(row_kind::changes, 10, still).rows, 2U);
    EXPECT_THAT(database.take(),
                ElementsAre("find_changes(5, 10)", "remove_changes([1])", "remove_changes([2])"));
}

TEST_F(old_rows_of_a_store, go_with_their_account_if_they_are_as_that_says) {
    find("find_closed", 1, 1);
    remove("remove_message", {1});
    EXPECT_EQ(purge(row_kind::dead, 10, still).rows, 1U);
    EXPECT_THAT(database.take(), ElementsAre("find_closed(5, 10, Dead)",
                                             "remove_message([0], Dead)", "remove_closed([0])"));
}

TEST_F(old_rows_of_a_store, that_a_trigger_keeps_are_not_counted_and_said_if_all_are_kept) {
    find("find_received", 2, 2);
    remove("remove_received", {0, 1, 0});
    EXPECT_EQ(purge(row_kind::received, 2, still).rows, 1U);
    EXPECT_EQ(try_purge(row_kind::received, 2).error().code(), error_code::statement_failed)
        << "the same ones would be found again, without end";
}

TEST_F(old_rows_of_a_store, are_found_in_the_stores_own_way_where_they_were_sent) {
    const auto done = purge(row_kind::sent, 10, still);
    EXPECT_EQ(done.rows, 2U);
    EXPECT_TRUE(done.more);
}

}  // namespace
}  // namespace posthorn
