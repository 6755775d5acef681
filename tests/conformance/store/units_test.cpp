// How units of work commit: together, in order, and answered when it is done.
#include <algorithm>
#include <atomic>
#include <thread>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr auto make_log = "CREATE TABLE log(n INTEGER NOT NULL, place INTEGER NOT NULL)";

work log_number(int n) {
    return execute(fmt::format("INSERT INTO log SELECT {}, (SELECT count(*) FROM log)", n));
}

TEST_P(store, a_committed_unit_is_seen_by_others) {
    must("CREATE TABLE t(n INTEGER)");
    must("INSERT INTO t VALUES (1)");
    EXPECT_EQ(number("SELECT count(*) FROM t"), 1);
}

TEST_P(store, a_unit_and_its_message_commit_together) {
    must("CREATE TABLE orders(id TEXT)");
    const auto body = sample();
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO orders VALUES ('o1')", {}));
        POSTHORN_TRY(tx.outbox().insert(body));
        return {};
    });
    EXPECT_EQ(number("SELECT count(*) FROM orders"), 1);
    EXPECT_EQ(status(body.id), outbox_status::pending);
}

TEST_P(store, a_rolled_back_unit_leaves_no_message) {
    must("CREATE TABLE orders(id TEXT)");
    const auto body = sample();
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO orders VALUES ('o1')", {}));
        POSTHORN_TRY(tx.outbox().insert(body));
        return fail(error_code::no_handler, "thought better of it");
    });
    EXPECT_TRUE(refused_with(outcome, error_code::no_handler));
    EXPECT_STREQ(outcome.error().what(), "thought better of it");
    EXPECT_EQ(number("SELECT count(*) FROM orders"), 0);
    EXPECT_EQ(status(body.id), std::nullopt);
}

TEST_P(store, a_unit_gets_its_message_back_when_others_undo_it_and_stores_it_after_all) {
    auto body = sample();
    const auto kept = body;
    answers arrived;
    std::vector<unit> both;
    both.push_back(
        {.work = [&](store_transaction& tx) -> result<> {
             POSTHORN_TRY(tx.outbox().insert(std::move(body)));
             return {};
         },
         .done = arrived.to(0),
         .undone = [&](std::vector<outbox_row> rows) { body = std::move(rows.front().body); }});
    both.push_back({.work = execute("INSERT INTO nowhere VALUES (1)"), .done = arrived.to(1)});
    db().submit(std::move(both));
    arrived.wait_for(2);
    EXPECT_TRUE(arrived.at(0).has_value());
    EXPECT_TRUE(refused_with(arrived.at(1), error_code::statement_failed));
    EXPECT_EQ(status(kept.id), outbox_status::pending);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE destination = '" +
                     kept.destination + "'"),
              1);
}

TEST_P(store, a_message_that_is_refused_stays_with_its_sender) {
    auto body = sample();
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(body));
        return {};
    });
    const auto kept = body;
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(std::move(body)));
        return {};
    });
    EXPECT_TRUE(refused_with(outcome, error_code::duplicate_id));
    EXPECT_EQ(body.payload, kept.payload);
}

TEST_P(store, a_unit_is_answered_only_when_others_can_see_it) {
    must("CREATE TABLE t(n INTEGER)");
    const auto other = disk().connect();
    answers arrived;
    std::atomic<std::int64_t> seen = -1;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"),
                 .done = [&, done = arrived.to(0)](result<> value) mutable {
                     seen = other->number("SELECT count(*) FROM t");
                     done(std::move(value));
                 }});
    arrived.wait_for(1);
    EXPECT_EQ(seen, 1);
}

TEST_P(store, units_submitted_as_one_are_all_committed_at_the_first_answer) {
    must("CREATE TABLE t(n INTEGER)");
    const auto other = disk().connect();
    answers arrived;
    std::atomic<std::int64_t> seen = -1;
    std::vector<unit> units;
    for (std::size_t i = 0; i < 10; ++i) {
        units.push_back({.work = execute("INSERT INTO t VALUES (1)"),
                         .done = [&, done = arrived.to(i)](result<> value) mutable {
                             if (seen == -1) seen = other->number("SELECT count(*) FROM t");
                             done(std::move(value));
                         }});
    }
    db().submit(std::move(units));
    arrived.wait_for(10);
    EXPECT_EQ(seen, 10);
    EXPECT_THAT(arrived.times(), AllOf(SizeIs(10), Each(1)));
}

TEST_P(store, units_submitted_as_one_share_one_commit) {
    listener heard;
    db().hand_to(&heard);
    std::vector<work> group;
    for (int i = 0; i < 50; ++i) group.push_back(enqueue(sample()));
    EXPECT_THAT(run_all(std::move(group)), Each(::testing::Truly(succeeded<void>)));
    EXPECT_THAT(heard.calls(), ElementsAre(SizeIs(50)));
    db().hand_to(nullptr);
}

/// Counts what it hears of.
struct counting_listener final : commit_listener {
    void committed(std::span<const outbox_row> enqueued) override { rows += enqueued.size(); }
    std::atomic<std::size_t> rows = 0;
};

TEST_P(store, several_listen_to_commits_beside_the_one_that_takes_them_over) {
    listener taker;
    counting_listener first, second;
    db().hand_to(&taker);
    db().listen(first);
    db().listen(second);
    std::vector<work> group;
    for (int i = 0; i < 3; ++i) group.push_back(enqueue(sample()));
    run_all(std::move(group));
    EXPECT_EQ(first.rows, 3);
    EXPECT_EQ(second.rows, 3);
    db().forget(first);
    std::vector<work> more;
    more.push_back(enqueue(sample()));
    run_all(std::move(more));
    EXPECT_EQ(first.rows, 3) << "it was forgotten";
    EXPECT_EQ(second.rows, 4);
    EXPECT_THAT(taker.calls(), ElementsAre(SizeIs(3), SizeIs(1)));
    db().forget(second);
    db().hand_to(nullptr);
}

TEST_P(store, a_unit_sees_its_own_writes) {
    must("CREATE TABLE t(n INTEGER)");
    std::int64_t seen = -1;
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (41)", {}));
        POSTHORN_TRY(tx.execute("UPDATE t SET n = n + 1", {}));
        return tx.query("SELECT n FROM t", {}, [&](const sql_row& row) { seen = row.integer(0); });
    });
    EXPECT_EQ(seen, 42);
}

TEST_P(store, a_unit_sees_the_writes_of_those_before_it_in_its_group) {
    must("CREATE TABLE t(n INTEGER)");
    std::int64_t seen = -1;
    std::vector<work> group;
    group.push_back(execute("INSERT INTO t VALUES (7)"));
    group.push_back([&](store_transaction& tx) -> result<> {
        return tx.query("SELECT n FROM t", {}, [&](const sql_row& row) { seen = row.integer(0); });
    });
    EXPECT_THAT(run_all(std::move(group)), Each(::testing::Truly(succeeded<void>)));
    EXPECT_EQ(seen, 7);
}

TEST_P(store, units_run_in_the_order_of_submission) {
    must(make_log);
    answers arrived;
    for (int i = 0; i < 50; ++i)
        db().submit({.work = log_number(i), .done = arrived.to(static_cast<std::size_t>(i))});
    arrived.wait_for(50);
    EXPECT_EQ(number("SELECT count(*) FROM log WHERE n = place"), 50);
    EXPECT_TRUE(std::ranges::is_sorted(arrived.order()));
}

TEST_P(store, execute_gives_the_number_of_rows_it_changed) {
    must("CREATE TABLE t(n INTEGER)");
    must("INSERT INTO t VALUES (1), (2), (3)");
    const auto change = [&](const std::string& sql) {
        return write<std::int64_t>([&](store_transaction& tx) { return tx.execute(sql, {}); });
    };
    EXPECT_EQ(change("UPDATE t SET n = 0 WHERE n > 1"), 2);
    EXPECT_EQ(change("DELETE FROM t WHERE n = 77"), 0);
    EXPECT_EQ(change("CREATE TABLE u(n INTEGER)"), 0);
}

TEST_P(store, parameters_and_columns_keep_every_kind_of_value) {
    const std::string words = "Grüße, 世界, \U0001F4EF, '\"; DROP TABLE t";
    const std::array bytes{std::byte{0}, std::byte{255}, std::byte{7}};
    int rows = 0;
    must([&](store_transaction& tx) -> result<> {
        const std::array<sql_param, 5> with{nullptr, std::int64_t{-5}, 2.5, std::string_view(words),
                                            blob{bytes}};
        return tx.query("SELECT ?, ?, ?, ?, ?", with, [&](const sql_row& row) {
            ++rows;
            EXPECT_EQ(row.size(), 5U);
            EXPECT_TRUE(row.is_null(0));
            EXPECT_FALSE(row.is_null(1));
            EXPECT_EQ(row.integer(1), -5);
            EXPECT_EQ(row.real(2), 2.5);
            EXPECT_EQ(row.text(3), words);
            EXPECT_TRUE(std::ranges::equal(row.bytes(4), bytes));
        });
    });
    EXPECT_EQ(rows, 1);
}

TEST_P(store, a_reader_sees_what_is_committed_and_nothing_else) {
    must("CREATE TABLE t(n INTEGER)");
    std::int64_t inside = -1;
    const auto count = [&](std::int64_t& into) {
        return db().read([&](store_reader& reader) {
            return reader.query("SELECT count(*) FROM t", {},
                                [&](const sql_row& row) { into = row.integer(0); });
        });
    };
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (1)", {}));
        return count(inside);
    });
    EXPECT_EQ(inside, 0);
    std::int64_t after = -1;
    EXPECT_TRUE(succeeded(count(after)));
    EXPECT_EQ(after, 1);
}

TEST_P(store, a_reader_cannot_write) {
    must("CREATE TABLE t(n INTEGER)");
    const auto outcome = db().read([&](store_reader& reader) {
        return reader.query("INSERT INTO t VALUES (1)", {}, [](const sql_row&) {});
    });
    EXPECT_FALSE(outcome);
    EXPECT_EQ(number("SELECT count(*) FROM t"), 0);
}

TEST_P(store, a_reader_hands_on_the_error_of_its_caller) {
    const auto outcome = db().read(
        [](store_reader&) -> result<> { return fail(error_code::no_handler, "not mine"); });
    EXPECT_TRUE(refused_with(outcome, error_code::no_handler));
}

TEST_P(store, a_lazy_unit_waits_for_the_next_commit_and_rides_along) {
    listener heard;
    db().hand_to(&heard);
    answers arrived;
    db().submit({.work = enqueue(sample()), .done = arrived.to(0), .lazy = true});
    disk().wait_for_writer();
    EXPECT_THAT(arrived.order(), SizeIs(0));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);

    db().submit({.work = enqueue(sample()), .done = arrived.to(1)});
    arrived.wait_for(2);
    EXPECT_THAT(arrived.times(), ElementsAre(1, 1));
    EXPECT_THAT(heard.calls(), SizeIs(1));  // One commit for both.
    EXPECT_THAT(heard.rows(), SizeIs(2));
    db().hand_to(nullptr);
}

TEST_P(store, a_lazy_unit_does_not_wait_for_a_long_queue_to_end) {
    must("CREATE TABLE t(n INTEGER)");
    constexpr std::size_t queued = 5'000;  // More than one commit takes.
    answers arrived;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(0), .lazy = true});
    std::vector<unit> units;
    for (std::size_t i = 1; i <= queued; ++i)
        units.push_back({.work = execute("INSERT INTO t VALUES (2)"), .done = arrived.to(i)});
    db().submit(std::move(units));
    arrived.wait_for(queued + 1);
    const auto order = arrived.order();
    EXPECT_LT(std::ranges::find(order, 0U) - order.begin(), std::ptrdiff_t{queued / 2});
}

TEST_P(store, a_unit_without_a_callback_commits_too) {
    must("CREATE TABLE t(n INTEGER)");
    db().submit({.work = execute("INSERT INTO t VALUES (1)")});
    must("INSERT INTO t VALUES (2)");
    EXPECT_EQ(number("SELECT sum(n) FROM t"), 3);
}

TEST_P(store, an_answer_may_submit_the_next_unit) {
    must("CREATE TABLE t(n INTEGER)");
    answers arrived;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"),
                 .done = [&, done = arrived.to(0)](result<> value) mutable {
                     done(std::move(value));
                     db().submit(
                         {.work = execute("INSERT INTO t VALUES (2)"), .done = arrived.to(1)});
                 }});
    arrived.wait_for(2);
    EXPECT_THAT(arrived.order(), ElementsAre(0, 1));
    EXPECT_EQ(number("SELECT sum(n) FROM t"), 3);
}

TEST_P(store, submitting_no_units_does_nothing) {
    db().submit(std::vector<unit>{});
    must("CREATE TABLE t(n INTEGER)");
    EXPECT_EQ(number("SELECT count(*) FROM t"), 0);
}

TEST_P(store, a_thousand_units_in_one_submission_are_each_answered_once) {
    must("CREATE TABLE t(n INTEGER)");
    std::vector<unit> units;
    answers arrived;
    for (std::size_t i = 0; i < 1000; ++i)
        units.push_back({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(i)});
    db().submit(std::move(units));
    arrived.wait_for(1000);
    must("INSERT INTO t VALUES (1)");
    EXPECT_THAT(arrived.times(), AllOf(SizeIs(1000), Each(1)));
    EXPECT_EQ(number("SELECT count(*) FROM t"), 1001);
}

}  // namespace
}  // namespace posthorn::conformance
