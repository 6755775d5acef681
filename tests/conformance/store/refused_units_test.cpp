// Units that fail, cheat or never end harm nobody but themselves.
#include <stdexcept>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(store, a_unit_that_returns_an_error_rolls_back_alone) {
    make_tables();
    const auto outcome = between_good_ones([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
        return fail(error_code::invalid_payload, "no order in it");
    });
    EXPECT_TRUE(refused_with(outcome, error_code::invalid_payload));
}

TEST_P(store, a_unit_that_throws_rolls_back_alone) {
    make_tables();
    const auto outcome = between_good_ones([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
        throw std::runtime_error("a bug in a handler");
    });
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().what(), ::testing::HasSubstr("a bug in a handler"));
}

TEST_P(store, a_thrown_error_of_ours_keeps_its_code) {
    make_tables();
    const auto outcome = between_good_ones([](store_transaction&) -> result<> {
        throw error(error_code::invalid_payload, "no order in it");
    });
    EXPECT_TRUE(refused_with(outcome, error_code::invalid_payload));
}

TEST_P(store, a_unit_that_throws_something_odd_rolls_back_alone) {
    make_tables();
    const auto outcome = between_good_ones([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
        throw 42;
    });
    EXPECT_FALSE(outcome);
}

TEST_P(store, a_statement_with_an_error_in_it_is_refused_alone) {
    make_tables();
    EXPECT_TRUE(refused_with(between_good_ones(execute("INSERT INTO nowhere VALUES (1)")),
                             error_code::statement_failed));
    EXPECT_TRUE(refused_with(between_good_ones(execute("SELEC 1")), error_code::statement_failed));
}

TEST_P(store, a_broken_key_is_refused_alone) {
    make_tables();
    EXPECT_TRUE(refused_with(between_good_ones(execute("INSERT INTO held VALUES (1)")),
                             error_code::statement_failed));
}

TEST_P(store, a_unit_may_go_on_after_a_statement_that_failed) {
    make_tables();
    const auto outcome = between_good_ones([](store_transaction& tx) -> result<> {
        EXPECT_FALSE(tx.execute("INSERT INTO held VALUES (1)", {}));
        POSTHORN_TRY(tx.execute("INSERT INTO held VALUES (3)", {}));
        return {};
    });
    EXPECT_TRUE(succeeded(outcome));
    EXPECT_EQ(number("SELECT count(*) FROM held"), 3);
}

TEST_P(store, a_statement_that_rolls_everything_back_takes_no_neighbour_with_it) {
    make_tables();
    for (const auto& breaker : disk().speaks().group_breakers) {
        SCOPED_TRACE(breaker);
        EXPECT_FALSE(between_good_ones(execute(breaker)));
    }
    EXPECT_EQ(number("SELECT count(*) FROM held"), 2);
}

TEST_P(store, a_unit_that_hides_such_a_statement_is_refused_all_the_same) {
    make_tables();
    for (const auto& breaker : disk().speaks().group_breakers) {
        SCOPED_TRACE(breaker);
        const auto outcome = between_good_ones([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
            (void)tx.execute(breaker, {});
            return {};
        });
        EXPECT_FALSE(outcome);
    }
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE n = 100"), 0);
}

TEST_P(store, a_deferred_foreign_key_left_broken_is_refused_alone) {
    make_tables();
    must("CREATE TABLE child(parent INTEGER REFERENCES held(id) DEFERRABLE INITIALLY DEFERRED)");
    EXPECT_TRUE(refused_with(between_good_ones(execute("INSERT INTO child VALUES (77)")),
                             error_code::statement_failed));
    EXPECT_EQ(number("SELECT count(*) FROM child"), 0);
}

TEST_P(store, a_deferred_foreign_key_mended_in_time_commits) {
    make_tables();
    must("CREATE TABLE child(parent INTEGER REFERENCES held(id) DEFERRABLE INITIALLY DEFERRED)");
    const auto outcome = between_good_ones([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute("INSERT INTO child VALUES (77)", {}));
        POSTHORN_TRY(tx.execute("INSERT INTO held VALUES (77)", {}));
        return {};
    });
    EXPECT_TRUE(succeeded(outcome));
    EXPECT_EQ(number("SELECT count(*) FROM child"), 1);
}

TEST_P(store, a_broken_foreign_key_is_refused_alone) {
    make_tables();
    must("CREATE TABLE child(parent INTEGER REFERENCES held(id))");
    EXPECT_TRUE(refused_with(between_good_ones(execute("INSERT INTO child VALUES (77)")),
                             error_code::statement_failed));
}

TEST_P(store, transaction_control_is_forbidden) {
    make_tables();
    for (const auto& statement : disk().speaks().forbidden) {
        SCOPED_TRACE(statement);
        EXPECT_TRUE(
            refused_with(between_good_ones(execute(statement)), error_code::statement_forbidden));
    }
}

TEST_P(store, transaction_control_is_forbidden_in_queries_too) {
    make_tables();
    for (const auto& statement : disk().speaks().forbidden) {
        SCOPED_TRACE(statement);
        const auto outcome = between_good_ones(
            [&](store_transaction& tx) { return tx.query(statement, {}, [](const sql_row&) {}); });
        EXPECT_TRUE(refused_with(outcome, error_code::statement_forbidden));
    }
}

TEST_P(store, a_second_statement_in_one_text_is_never_dropped_in_silence) {
    make_tables();
    const auto outcome =
        between_good_ones(execute("INSERT INTO held VALUES (8); INSERT INTO held VALUES (9)"));
    // Both or an error; one alone would be a lost write that nobody hears of.
    EXPECT_EQ(number("SELECT count(*) FROM held WHERE id IN (8, 9)"), outcome ? 2 : 0);
}

TEST_P(store, too_few_parameters_are_refused_alone) {
    make_tables();
    EXPECT_FALSE(between_good_ones(execute("INSERT INTO held VALUES (?)")));
}

TEST_P(store, a_unit_over_its_time_limit_is_interrupted) {
    make_tables();
    const auto outcome = between_good_ones(
        [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
            return tx.query(disk().speaks().endless, {}, [](const sql_row&) {});
        },
        20ms);
    EXPECT_TRUE(refused_with(outcome, error_code::statement_interrupted));
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE n = 100"), 0);
}

TEST_P(store, an_interrupted_write_harms_no_neighbour_even_when_it_is_hidden) {
    make_tables();
    const auto outcome = between_good_ones(
        [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (100)", {}));
            (void)tx.execute("INSERT INTO held " + disk().speaks().endless, {});
            return {};
        },
        20ms);
    EXPECT_FALSE(outcome);
    EXPECT_EQ(number("SELECT count(*) FROM held"), 2);
}

TEST_P(store, the_limit_of_one_unit_is_not_that_of_the_next) {
    make_tables();
    (void)between_good_ones(
        [&](store_transaction& tx) {
            return tx.query(disk().speaks().endless, {}, [](const sql_row&) {});
        },
        20ms);
    must("INSERT INTO t VALUES (5)");
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE n = 5"), 1);
}

TEST_P(store, waiting_for_the_writer_inside_a_unit_is_refused) {
    make_tables();
    const auto outcome = between_good_ones([&](store_transaction&) -> result<> {
        POSTHORN_TRY(db().changed_by_others());  // It would wait for itself.
        return {};
    });
    EXPECT_TRUE(refused_with(outcome, error_code::called_in_transaction));
}

TEST_P(store, a_message_of_a_refused_unit_is_not_announced) {
    make_tables();
    listener heard;
    db().hand_to(&heard);
    auto good = sample();
    auto bad = sample();
    auto late = sample();
    std::vector<work> group;
    group.push_back(enqueue(good));
    group.push_back([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(bad));
        (void)tx.execute(disk().speaks().group_breakers.front(), {});
        return {};
    });
    group.push_back(enqueue(late));
    const auto outcomes = run_all(std::move(group));
    EXPECT_TRUE(succeeded(outcomes[0]));
    EXPECT_FALSE(outcomes[1]);
    EXPECT_TRUE(succeeded(outcomes[2]));
    ASSERT_EQ(heard.rows().size(), 2U);
    EXPECT_EQ(heard.rows()[0].body.id, good.id);
    EXPECT_EQ(heard.rows()[1].body.id, late.id);
    db().hand_to(nullptr);
}

}  // namespace
}  // namespace posthorn::conformance
