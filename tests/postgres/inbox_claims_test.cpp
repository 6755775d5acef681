// Claims on one message in the inbox, which transactions of several nodes want at once.
#include <functional>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using test::postgres_client;
using ::testing::HasSubstr;

class postgres_inbox_claims : public on_postgres {
protected:
    struct outcome {
        bool is_taken = false;
        std::string owner;  // As the same transaction finds it.
    };

    /// At noon, by `owner`, until a time. A unit may be run again.
    unit::work_type taking(std::string owner, wall_time until, outcome& seen,
                           std::function<result<>()> then = {}) {
        return [=, this, &seen](store_transaction& tx) -> result<> {
            const inbox_key key{"orders", id_};
            POSTHORN_LET(taken, tx.inbox().claim({.key = key,
                                                  .endpoint = "Take",
                                                  .owner = owner,
                                                  .until = until,
                                                  .expires_at = noon + 48h},
                                                 noon));
            POSTHORN_LET(found, tx.inbox().find(key));
            seen = {.is_taken = taken, .owner = found ? found->claim_owner : "nothing"};
            return then ? then() : result<>{};
        };
    }
    void take(const std::string& owner, wall_time until) {
        outcome seen;
        ASSERT_TRUE(succeeded(first_.run(taking(owner, until, seen))));
        ASSERT_TRUE(seen.is_taken);
    }
    /// What the second store gets that wants the claim while the first's transaction has it.
    outcome race(const std::function<result<>()>& end_of_first) {
        std::promise<void> holds, go_on;
        outcome first, second;
        auto ahead = first_.run_own(taking("first", noon + 30s, first, [&, once = true]() mutable {
            if (std::exchange(once, false)) {
                holds.set_value();
                go_on.get_future().wait();
            }
            return end_of_first();
        }));
        holds.get_future().wait();
        auto behind = second_.run_own(taking("second", noon + 30s, second));
        EXPECT_TRUE(test::eventually([this] { return is_waited_for_a_lock(); }));
        go_on.set_value();
        EXPECT_EQ(ahead.get().has_value(), end_of_first().has_value());
        EXPECT_TRUE(succeeded(behind.get()));
        EXPECT_TRUE(first.is_taken);
        return second;
    }
    bool is_waited_for_a_lock() {
        return number(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND"
                   " query LIKE '%" +
                   place_.schema() + "%'") > 0;
    }

    a_store first_{place_};
    a_store second_{place_};

private:
    uuid id_ = sample().id;
};

TEST_F(postgres_inbox_claims, that_ran_out_are_taken_over_by_one_of_two) {
    take("gone", noon);
    const auto second = race([] { return result<>{}; });
    EXPECT_FALSE(second.is_taken);
    EXPECT_EQ(second.owner, "first");
}

TEST_F(postgres_inbox_claims, that_ran_out_are_taken_over_by_the_other_if_one_is_rolled_back) {
    take("gone", noon);
    const auto second =
        race([]() -> result<> { return fail(error_code::statement_failed, "alas"); });
    EXPECT_TRUE(second.is_taken);
    EXPECT_EQ(second.owner, "second");
}

TEST_F(postgres_inbox_claims, of_a_new_message_are_taken_by_one_of_two) {
    const auto second = race([] { return result<>{}; });
    EXPECT_FALSE(second.is_taken);
    EXPECT_EQ(second.owner, "first");
}

TEST_F(postgres_inbox_claims, that_are_released_meanwhile_are_taken) {
    take("other", noon + 30s);
    postgres_client owner(place_.url());
    ASSERT_EQ(owner.run("BEGIN; DELETE FROM inbox_messages"), std::nullopt);
    outcome seen;
    auto taken = first_.run_own(taking("us", noon + 30s, seen));
    EXPECT_TRUE(test::eventually([this] { return is_waited_for_a_lock(); }));
    ASSERT_EQ(owner.run("COMMIT"), std::nullopt);
    EXPECT_TRUE(succeeded(taken.get()));
    EXPECT_TRUE(seen.is_taken);
    EXPECT_EQ(seen.owner, "us");
}

// Else one could be released between being met and being taken over, or looked at.
TEST_F(postgres_inbox_claims, that_are_met_stay_until_the_transaction_ends) {
    take("other", noon + 30s);
    postgres_client owner(place_.url());
    std::string refusal;
    outcome seen;
    EXPECT_TRUE(succeeded(
        first_
            .run_own(taking("us", noon + 30s, seen,
                            [&]() -> result<> {
                                refusal =
                                    owner.run("SELECT 1 FROM inbox_messages FOR UPDATE NOWAIT")
                                        .value_or("it is free");
                                return {};
                            }))
            .get()));
    EXPECT_FALSE(seen.is_taken);
    EXPECT_EQ(seen.owner, "other");
    EXPECT_THAT(refusal, HasSubstr("could not obtain lock"));
}

}  // namespace
}  // namespace posthorn::conformance
