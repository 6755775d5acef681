// Transactions of an application's own on PostgreSQL, of which several run at a time.
#include <latch>
#include <optional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "postgres/node.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using test::postgres_client;

class postgres_own_transactions : public on_postgres {
protected:
    void SetUp() override {
        ASSERT_EQ(other_.run("CREATE TABLE stock (item text PRIMARY KEY, left_ integer);"
                             "INSERT INTO stock VALUES ('pen', 10), ('ink', 10)"),
                  std::nullopt);
    }

    static result<> take(store_transaction& tx, const std::string& item) {
        POSTHORN_TRY(tx.execute("UPDATE stock SET left_ = left_ - 1 WHERE item = ?",
                                std::vector<sql_param>{item}));
        return {};
    }
    std::int64_t left(const std::string& item) {
        return number("SELECT left_ FROM stock WHERE item = '" + item + "'");
    }
    /// Sessions of stores of the service.
    std::int64_t sessions(const std::string& which = "true") {
        return number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'posthorn " +
                      place_.schema() + "' AND " + which);
    }

    postgres_client other_{place_.url()};
};

TEST_F(postgres_own_transactions, run_beside_each_other) {
    a_store node(place_);
    std::latch both_run(2);
    const auto meet = [&both_run, once = true](store_transaction& tx) mutable -> result<> {
        POSTHORN_TRY(tx.query("SELECT 1", {}, {}));
        if (std::exchange(once, false)) both_run.arrive_and_wait();
        return {};
    };
    auto first = node.run_own(meet);
    auto second = node.run_own(meet);
    EXPECT_TRUE(succeeded(first.get()));
    EXPECT_TRUE(succeeded(second.get()));
}

TEST_F(postgres_own_transactions, hold_nobody_up_who_sends) {
    a_store node(place_);
    std::promise<void> holds, sent;
    auto slow = node.run_own([&](store_transaction&) -> result<> {
        holds.set_value();
        sent.get_future().wait();
        return {};
    });
    holds.get_future().wait();
    EXPECT_TRUE(succeeded(node.put(sample())));
    EXPECT_GT(node.get().unit_age().count(), 0) << "the watchdog sees it";
    sent.set_value();
    EXPECT_TRUE(succeeded(slow.get()));
}

TEST_F(postgres_own_transactions, are_no_more_at_a_time_than_was_said) {
    a_store node(place_, "orders", {}, {}, 2);
    std::atomic<int> begun = 0;
    std::promise<void> go_on;
    std::vector<std::future<result<>>> answers;
    const auto released = go_on.get_future().share();
    for (int i = 0; i < 6; ++i)
        answers.push_back(node.run_own([&begun, waits = released](store_transaction&) -> result<> {
            ++begun;
            waits.wait();
            return {};
        }));
    EXPECT_TRUE(test::eventually([&] { return begun == 2; }));
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(succeeded(node.put(sample())));
    EXPECT_EQ(begun, 2);
    go_on.set_value();
    for (auto& each : answers) EXPECT_TRUE(succeeded(each.get()));
    EXPECT_EQ(begun, 6);
}

TEST_F(postgres_own_transactions, are_run_again_when_two_of_them_wait_for_each_other) {
    a_store node(place_);
    std::latch both_hold(2);
    const auto cross = [&](const std::string& one, const std::string& other) {
        return [&both_hold, one, other, once = true](store_transaction& tx) mutable -> result<> {
            POSTHORN_TRY(take(tx, one));
            if (std::exchange(once, false)) both_hold.arrive_and_wait();
            return take(tx, other);
        };
    };
    auto first = node.run_own(cross("pen", "ink"));
    auto second = node.run_own(cross("ink", "pen"));
    EXPECT_TRUE(succeeded(first.get()));
    EXPECT_TRUE(succeeded(second.get()));
    EXPECT_EQ(left("pen"), 8);
    EXPECT_EQ(left("ink"), 8);
}

TEST_F(postgres_own_transactions, are_run_again_when_they_wait_for_each_others_order_keys) {
    a_store node(place_);
    std::latch both_hold(2);
    const auto cross = [&](const message& one, const message& other) {
        return [&both_hold, one, other, once = true](store_transaction& tx) mutable -> result<> {
            POSTHORN_TRY(tx.outbox().insert(one));
            if (std::exchange(once, false)) both_hold.arrive_and_wait();
            // As one says it who throws an exception of his own.
            if (!tx.outbox().insert(other)) return fail(error_code::statement_failed, "alas");
            return {};
        };
    };
    auto first = node.run_own(cross(sample("a"), sample("b")));
    auto second = node.run_own(cross(sample("b"), sample("a")));
    EXPECT_TRUE(succeeded(first.get()));
    EXPECT_TRUE(succeeded(second.get()));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 4);
}

TEST_F(postgres_own_transactions, and_a_send_that_wait_for_each_other_both_end_well) {
    a_store node(place_);
    auto once = sample();
    once.dedupe_key = "d";
    auto both = sample("k");
    both.dedupe_key = "d";
    std::promise<void> holds, waits;
    auto own = node.run_own(
        [&, first = sample("k"), is_first = true](store_transaction& tx) mutable -> result<> {
            POSTHORN_TRY(tx.outbox().insert(first));
            if (std::exchange(is_first, false)) {
                holds.set_value();
                waits.get_future().wait();
            }
            POSTHORN_TRY(tx.outbox().insert(once));
            return {};
        });
    holds.get_future().wait();
    auto sent = std::async(std::launch::async, [&] { return node.put(both); });
    EXPECT_TRUE(test::eventually([&] {
        return number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") >
               0;
    }));
    waits.set_value();
    EXPECT_TRUE(succeeded(own.get()));
    EXPECT_TRUE(succeeded(sent.get()));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE dedupe_key = 'd'"), 1);
}

TEST_F(postgres_own_transactions, do_not_leave_what_they_store_behind_a_message_that_is_settled) {
    a_store node(place_);
    const auto head = put_first_of("k", node);
    std::promise<void> holds, settled;
    auto follower = node.run_own([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(sample("k")));
        holds.set_value();
        settled.get_future().wait();
        return {};
    });
    holds.get_future().wait();
    settle_first(head, node);
    settled.set_value();
    ASSERT_TRUE(succeeded(follower.get()));
    // It believed that the first was in its way. Nothing else is committed that could show it.
    EXPECT_TRUE(test::eventually([&] {
        return number("SELECT count(*) FROM outbox_due WHERE next_retry_at = expires_at") == 0;
    }));
}

TEST_F(postgres_own_transactions, run_once_if_they_fail_by_themselves) {
    a_store node(place_);
    int runs = 0;
    const auto answer = node.run_own([&](store_transaction& tx) -> result<> {
                                ++runs;
                                POSTHORN_TRY(take(tx, "pen"));
                                return fail(error_code::invalid_argument, "no pens on Sundays");
                            })
                            .get();
    EXPECT_TRUE(refused_with(answer, error_code::invalid_argument));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(left("pen"), 10);
}

TEST_F(postgres_own_transactions, go_on_after_a_statement_that_failed) {
    a_store node(place_);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(succeeded(node.run_own([](store_transaction& tx) -> result<> {
                                      const auto refused =
                                          tx.execute("INSERT INTO stock VALUES ('pen', 1)", {});
                                      return refused ? fail(error_code::invalid_argument, "two")
                                                     : take(tx, "pen");
                                  })
                                  .get()));
    EXPECT_EQ(left("pen"), 7);
}

TEST_F(postgres_own_transactions, do_not_notice_that_their_session_was_lost_while_it_rested) {
    a_store node(place_, place_.schema());
    const auto work = [](store_transaction& tx) { return take(tx, "pen"); };
    ASSERT_TRUE(succeeded(node.run_own(work).get()));
    ASSERT_EQ(postgres_client().run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                                    " application_name = 'posthorn " +
                                    place_.schema() + "'"),
              std::nullopt);
    ASSERT_TRUE(test::eventually([&] { return sessions() == 0; }));
    EXPECT_TRUE(succeeded(node.run_own(work).get()));
    EXPECT_EQ(left("pen"), 8);
}

TEST_F(postgres_own_transactions, use_the_writers_session_if_the_server_gives_no_other) {
    const auto role = "role_" + place_.schema();
    postgres_client admin;
    ASSERT_EQ(admin.run("CREATE ROLE " + role + " LOGIN PASSWORD 'p'; GRANT posthorn TO " + role),
              std::nullopt);
    auto url = place_.url();
    url.replace(url.find("posthorn:posthorn@"), 18, role + ":p@");
    {
        const a_store maker(place_, place_.schema());
        a_store node(place_, place_.schema(), {}, url);
        ASSERT_EQ(admin.run("ALTER ROLE " + role + " CONNECTION LIMIT 1"), std::nullopt);
        const auto before = sessions();
        for (int i = 0; i < 3; ++i)
            EXPECT_TRUE(succeeded(
                node.run_own([](store_transaction& tx) { return take(tx, "pen"); }).get()));
        EXPECT_EQ(sessions(), before);
    }
    EXPECT_EQ(left("pen"), 7);
    admin.run("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(postgres_own_transactions, have_a_session_made_anew_after_a_long_rest) {
    a_store node(place_, place_.schema());
    const auto session_of_mine = [&] {
        std::int64_t backend = 0;
        EXPECT_TRUE(succeeded(node.run_own([&](store_transaction& tx) {
                                      return tx.query(
                                          "SELECT pg_backend_pid()", {},
                                          [&](const sql_row& row) { backend = row.integer(0); });
                                  })
                                  .get()));
        return backend;
    };
    // The second has another if the first is answered and has not given its own back yet.
    const std::set before{session_of_mine(), session_of_mine()};
    // Others forget a store that they have not seen for a week.
    ASSERT_EQ(other_.run("UPDATE posthorn_commits SET at = at - 7 * 86400000"), std::nullopt);
    node.pass(std::chrono::hours{1});
    EXPECT_FALSE(before.contains(session_of_mine()));
    {
        a_store another(place_, place_.schema());
        ASSERT_TRUE(succeeded(another.put(sample())));
    }
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_commits WHERE writer LIKE '%/%'"), 1);
}

TEST_F(postgres_own_transactions, take_their_rows_along_when_the_store_stops) {
    {
        a_store node(place_);
        ASSERT_TRUE(
            succeeded(node.run_own([](store_transaction& tx) { return take(tx, "pen"); }).get()));
        EXPECT_EQ(number("SELECT count(*) FROM posthorn_commits"), 2);
    }
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_commits"), 0);
}

TEST_F(postgres_own_transactions, that_wait_are_run_when_the_store_stops_and_none_after) {
    std::vector<std::future<result<>>> answers;
    std::optional<a_store> node(std::in_place, place_);
    for (int i = 0; i < 20; ++i)
        answers.push_back(node->run_own([](store_transaction& tx) { return take(tx, "ink"); }));
    node->get().stop();
    for (auto& each : answers) EXPECT_TRUE(succeeded(each.get()));
    EXPECT_EQ(left("ink"), -10);
    EXPECT_TRUE(
        refused_with(node->run_own([](store_transaction& tx) { return take(tx, "ink"); }).get(),
                     error_code::closed));
}

TEST_F(postgres_own_transactions, tell_the_other_nodes_what_is_for_them) {
    a_store node(place_);
    ASSERT_EQ(other_.run("LISTEN \"posthorn \"\"" + place_.schema() + "\"\"\""), std::nullopt);
    const auto body = sample();
    ASSERT_TRUE(succeeded(node.run_own(enqueue(body)).get()));
    EXPECT_TRUE(test::eventually([&] {
        PQconsumeInput(other_.handle());
        const std::unique_ptr<PGnotify, decltype(&PQfreemem)> told(PQnotifies(other_.handle()),
                                                                   &PQfreemem);
        return told != nullptr;
    }));
}

}  // namespace
}  // namespace posthorn::conformance
