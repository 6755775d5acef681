#include "history/history_keeper.hpp"

#include "unit/history/history_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Counts statements and refuses everything else.
class counted_transaction final : public store_transaction {
public:
    result<std::int64_t> execute(std::string_view, std::span<const sql_param>) override {
        ADD_FAILURE() << "not a statement of which nothing is wanted back";
        return 0;
    }
    result<> run(std::string_view sql, std::span<const sql_param> with) override {
        ++statements;
        parameters += with.size();
        EXPECT_THAT(std::string(sql), HasSubstr("posthorn_history"));
        return {};
    }
    result<> query(std::string_view, std::span<const sql_param>, const row_visitor&) override {
        ADD_FAILURE() << "a question inside the transaction";
        return {};
    }
    outbox_table& outbox() override { throw std::logic_error("not here"); }
    inbox_table& inbox() override { throw std::logic_error("not here"); }
    lease_table& leases() override { throw std::logic_error("not here"); }
    dead_letter_table& dead_letters() override { throw std::logic_error("not here"); }
    old_rows& old() override { throw std::logic_error("not here"); }
    result<> take_turn(std::string_view, std::string_view) override { return {}; }

    std::size_t statements = 0;
    std::size_t parameters = 0;
};

TEST(history_cost, a_tick_is_one_statement_however_many_destinations_there_are) {
    counted_transaction tx;
    EXPECT_TRUE(insert_history(tx, std::vector<history_row>(1)));
    EXPECT_EQ(tx.statements, 1U);
    EXPECT_TRUE(insert_history(tx, std::vector<history_row>(66)));
    EXPECT_EQ(tx.statements, 2U);
    EXPECT_TRUE(insert_history(tx, {}));
    EXPECT_EQ(tx.statements, 2U);
}

TEST(history_cost, once_a_minute_two_more_delete_what_is_old) {
    counted_transaction tx;
    EXPECT_TRUE(trim_history(tx, {}, "one"));
    EXPECT_EQ(tx.statements, 2U);
}

using history_of_a_node = history_fixture;

TEST_F(history_of_a_node, causes_one_commit_a_minute_and_otherwise_goes_along_with_others) {
    start();
    const auto before = store().units_done();
    loop.run_for(59s);
    EXPECT_EQ(rows(10), 0);  // Nothing was committed: the rows wait.
    loop.run_for(1s);
    EXPECT_EQ(rows(10), 6);
    EXPECT_EQ(rows(60), 1);
    EXPECT_EQ(store().units_done() - before, 6U);
    loop.run_for(11s);
    EXPECT_EQ(rows(10), 6);
    enqueue("billing");  // A commit of another.
    EXPECT_EQ(rows(10), 7);
}

TEST_F(history_of_a_node, writes_a_line_for_all_and_one_for_each_destination_that_does_something) {
    start();
    sent("billing", 30);
    sent("crm", 3);
    loop.run_for(1min);
    EXPECT_EQ(number("SELECT done FROM posthorn_history WHERE step = 60 AND kind = 'o'"), 33);
    EXPECT_EQ(number("SELECT done FROM posthorn_history WHERE step = 60 AND name = 'billing'"), 30);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_history WHERE step = 10 AND name = 'crm'"), 1);
}

TEST_F(history_of_a_node, writes_no_more_lines_than_it_may_however_many_destinations_there_are) {
    start();
    for (int i = 0; i < 90; ++i) sent("to-" + std::to_string(i), 1);
    loop.run_for(1min);
    // All, the four that are named, and the rest.
    EXPECT_EQ(rows(60), 6);
    EXPECT_EQ(number("SELECT done FROM posthorn_history WHERE step = 60 AND name = 'other'"), 86);
}

TEST_F(history_of_a_node, tells_what_waits_and_for_how_long) {
    start();
    enqueue("billing");
    enqueue("billing");
    enqueue("crm");
    loop.run_for(1min);
    const std::string last = " FROM posthorn_history WHERE step = 60 AND kind = ";
    EXPECT_EQ(number("SELECT waiting" + last + "'o'"), 3);
    EXPECT_EQ(number("SELECT waiting" + last + "'d' AND name = 'billing'"), 2);
    EXPECT_EQ(number("SELECT oldest_ms" + last + "'o'"), 60'000);
}

TEST_F(history_of_a_node, is_kept_for_six_hours_finely_and_for_seven_days_by_the_minute) {
    start();
    loop.run_for(7h);
    EXPECT_EQ(rows(10), 6 * 360);
    EXPECT_EQ(rows(60), 7 * 60);
    // As if they had been written a week ago.
    change("UPDATE posthorn_history SET at = at - 604800000 + 3600000 WHERE step = 60");
    loop.run_for(30min);
    EXPECT_EQ(rows(60), 30 + 30);  // Half an hour of those, and what came since.
}

TEST_F(history_of_a_node, deletes_what_a_long_pause_has_made_old_in_slices) {
    start();
    loop.run_for(5h);
    stop();
    loop.run_for(24h);
    start();
    loop.run_for(2min);
    const auto left = number("SELECT count(*) FROM posthorn_history WHERE step = 10");
    EXPECT_GT(left, 5 * 360 - 200);
    loop.run_for(1h);
    EXPECT_EQ(rows(10), 6 * 62);
}

TEST_F(history_of_a_node, leaves_the_rows_of_others_to_them_for_a_while) {
    start("gone");
    loop.run_for(1min);
    stop();
    start("one");
    loop.run_for(6h + 1min);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_history WHERE node = 'gone' AND step = 10"), 6);
    loop.run_for(6min);
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_history WHERE node = 'gone' AND step = 10"), 0);
}

TEST_F(history_of_a_node, loses_nothing_at_a_clean_stop) {
    start();
    loop.run_for(3s);
    sent("billing", 5);
    loop.run_for(1s);
    stop();
    enqueue("other");
    EXPECT_EQ(number("SELECT done FROM posthorn_history WHERE step = 10 AND kind = 'o'"), 5);
    EXPECT_EQ(number("SELECT done FROM posthorn_history WHERE step = 60 AND kind = 'o'"), 5);
}

TEST_F(history_of_a_node, goes_on_where_rows_cannot_be_written_and_says_so_once) {
    start();
    change("ALTER TABLE posthorn_history RENAME TO away");
    loop.run_for(3min);
    const auto told = [this] {
        return std::ranges::count_if(lines, [](const std::string& line) {
            return line.find("History:") != std::string::npos;
        });
    };
    EXPECT_EQ(told(), 1);
    EXPECT_GT(keeper->rows_lost(), 0U);
    sent("billing", 2);
    loop.run_for(1s);
    EXPECT_FALSE(keeper->recent(loop.time().wall() - 1min, {}).empty());
    change("ALTER TABLE away RENAME TO posthorn_history");
    loop.run_for(2min);
    EXPECT_GT(rows(60), 0);
    EXPECT_EQ(told(), 2);
    EXPECT_THAT(lines.back(), HasSubstr("again"));
}

TEST_F(history_of_a_node, holds_a_quarter_of_an_hour_by_the_second_in_memory) {
    start();
    loop.run_for(1h);
    const auto recent = keeper->recent({}, {});
    EXPECT_EQ(recent.size(), 900U);
    EXPECT_EQ(recent.front().at, *keeper->recent_since());
    EXPECT_EQ(recent.back().at + 1s, loop.time().wall());
}

TEST_F(history_of_a_node, begins_anew_when_the_machine_has_slept) {
    start();
    loop.run_for(5s);
    sent("billing", 1000);
    loop.time().jump_wall(2h);
    loop.run_for(2min);
    EXPECT_EQ(number("SELECT coalesce(sum(done), 0) FROM posthorn_history WHERE step = 10"), 0);
    loop.time().jump_wall(-2h);
    sent("billing", 7);
    loop.run_for(2min);
    EXPECT_EQ(number("SELECT coalesce(sum(done), 0) FROM posthorn_history WHERE step = 10"), 0);
}

}  // namespace
}  // namespace posthorn
