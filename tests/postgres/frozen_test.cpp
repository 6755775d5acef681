// A node that is frozen, as by SIGSTOP or with its machine, in the middle of a transaction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using test::postgres_client;

class a_frozen_store : public on_postgres {
protected:
    real_clock time_;

    /// Where sessions that say nothing within a transaction are ended after so many milliseconds.
    [[nodiscard]] std::string url_with_limit(int ms) const {
        return place_.url() + fmt::format("%20-cidle_in_transaction_session_timeout%3D{}", ms);
    }
    /// What the sessions of a store have it set to.
    static std::string limit_of(a_store& node) {
        std::string limit;
        EXPECT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            return tx.query("SHOW idle_in_transaction_session_timeout", {},
                            [&](const sql_row& found) { limit = found.text(0); });
        })));
        return limit;
    }
};

TEST_F(a_frozen_store, keeps_nobody_from_its_rows_and_goes_on_when_it_thaws) {
    const a_store maker(place_);  // Of the tables, at its leisure.
    a_store node(place_, "orders", {}, url_with_limit(1'000));
    postgres_client other(place_.url());
    ASSERT_EQ(other.run("CREATE TABLE stock (item text PRIMARY KEY, left_ integer);"
                        "INSERT INTO stock VALUES ('pen', 10); SET lock_timeout = '30s'"),
              std::nullopt);
    std::promise<void> holds, thaw;
    std::promise<result<>> outcome;
    node.get().submit({.work = [&, once = true](store_transaction& tx) mutable -> result<> {
                           POSTHORN_TRY(tx.execute("UPDATE stock SET left_ = left_ - 5", {}));
                           if (std::exchange(once, false)) {
                               holds.set_value();
                               thaw.get_future().wait();
                           }
                           return {};
                       },
                       .done = [&](result<> value) { outcome.set_value(std::move(value)); }});
    holds.get_future().wait();
    EXPECT_EQ(other.run("UPDATE stock SET left_ = left_ - 1"), std::nullopt);
    thaw.set_value();
    // It is run again, on a session that holds, and takes effect once.
    EXPECT_TRUE(succeeded(outcome.get_future().get()));
    EXPECT_EQ(number("SELECT left_ FROM stock"), 4);
    EXPECT_TRUE(succeeded(node.put(sample())));
}

TEST_F(a_frozen_store, is_run_once_more_and_then_blamed_if_it_is_merely_slow) {
    const a_store maker(place_);
    constexpr int limit_ms = 1'000;
    a_store node(place_, "orders", {}, url_with_limit(limit_ms));
    ASSERT_EQ(postgres_client(place_.url()).run("CREATE TABLE done (n integer)"), std::nullopt);
    const auto be_silent = [&] {
        const auto begun = time_.steady();
        EXPECT_TRUE(test::eventually([&] {
            return time_.steady() - begun > std::chrono::milliseconds(limit_ms) &&
                   number(
                       "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in "
                       "transaction' AND query LIKE '%INTO done%'") == 0;
        }));
    };
    enum class after : std::uint8_t { nothing, sql, a_roll_back };
    for (const auto then : {after::nothing, after::sql, after::a_roll_back}) {
        int runs = 0;
        const auto outcome = node.run([&](store_transaction& tx) -> result<> {
            ++runs;
            POSTHORN_TRY(tx.execute("INSERT INTO done VALUES (1)", {}));
            be_silent();
            const auto said = then == after::nothing
                                  ? result<std::int64_t>(0)
                                  : tx.execute("INSERT INTO done VALUES (2)", {});
            // As the inbox does, which keeps the answer for itself.
            if (then == after::a_roll_back) return fail(error_code::cancelled, "rolled back");
            POSTHORN_TRY(said);
            return {};
        });
        EXPECT_TRUE(refused_with(outcome, error_code::statement_interrupted));
        EXPECT_EQ(runs, 2);
        EXPECT_EQ(number("SELECT count(*) FROM done"), 0);
        EXPECT_TRUE(succeeded(node.put(sample()))) << "which is not blamed for it";
    }
}

TEST_F(a_frozen_store, is_given_twenty_seconds_or_what_an_administrator_gives_if_that_is_less) {
    for (const auto& [set, expected] :
         {std::pair{0, "20s"}, {60'000, "20s"}, {20'000, "20s"}, {2'000, "2s"}}) {
        a_store node(place_, "orders", {}, url_with_limit(set));
        EXPECT_EQ(limit_of(node), expected) << set;
    }
}

}  // namespace
}  // namespace posthorn::conformance
