// How messages that plain SQL has stored are found, though their numbers and their transactions
// become visible in any order.
#include "postgres/intake.hpp"

#include <atomic>
#include <thread>

namespace posthorn::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(postgres_intake, finds_what_is_stored_and_then_nothing) {
    EXPECT_FALSE(has_arrivals());
    must(producer_, insert(3));
    EXPECT_TRUE(has_arrivals());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2, 3));
    EXPECT_FALSE(has_arrivals());
    must(eye_, "DELETE FROM outbox_due");  // As if they were sent.
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), IsEmpty());
}

TEST_F(postgres_intake, finds_what_was_stored_first_and_committed_last) {
    must(producer_, "BEGIN");
    must(producer_, insert());
    must(other_, insert());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(2));
    for (int i = 0; i < 3; ++i) {
        must(other_, insert());
        EXPECT_FALSE(take_in());
    }
    must(producer_, insert());
    must(producer_, "COMMIT");
    EXPECT_TRUE(has_arrivals());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(postgres_intake, finds_what_was_stored_in_a_savepoint_and_not_what_was_taken_back) {
    must(producer_, "BEGIN; SAVEPOINT a");
    must(producer_, insert());
    must(producer_, "RELEASE a; SAVEPOINT b");
    must(producer_, insert());
    must(producer_, "ROLLBACK TO b");
    EXPECT_FALSE(take_in());
    must(producer_, insert());
    must(producer_, "COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 3));
}

TEST_F(postgres_intake, finds_what_its_own_transaction_stores_after_it_has_looked) {
    ASSERT_TRUE(succeeded(node().run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute(insert(), {}));
        POSTHORN_TRY(node().claims_in(tx).take_in({.rows_max = 100}));
        POSTHORN_TRY(tx.execute(insert(), {}));
        return {};
    })));
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2));
    EXPECT_FALSE(has_arrivals());
}

TEST_F(postgres_intake, loses_nothing_with_a_transaction_that_is_taken_back) {
    must(producer_, insert(2));
    EXPECT_FALSE(succeeded(node().run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(node().claims_in(tx).take_in({.rows_max = 100}));
        return fail(error_code::invalid_argument, "no");
    })));
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2));
}

TEST_F(postgres_intake, goes_on_from_page_to_page_while_others_store) {
    must(producer_, "BEGIN");
    must(producer_, insert());
    must(other_, insert(25));
    must(producer_, insert(24));
    must(producer_, "COMMIT");
    must(other_, "BEGIN");
    must(other_, insert());
    int pages = 1;
    for (; take_in(10); ++pages) must(producer_, insert());
    EXPECT_EQ(pages, 7) << "and one for what came since it began";
    EXPECT_EQ(due().size(), 56);
    must(other_, "COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_EQ(due().size(), 57);
    EXPECT_FALSE(has_arrivals());
}

TEST_F(postgres_intake, leaves_it_to_another_that_is_at_it) {
    must(producer_, insert());
    must(other_, "BEGIN; SELECT 1 FROM outbox_intake FOR UPDATE");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), IsEmpty());
    must(other_, "COMMIT");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake, looks_at_all_that_came_from_another_server_with_a_dump) {
    must(producer_, insert(5));
    EXPECT_FALSE(take_in());
    must(producer_, insert(5));
    must(eye_,
         "ALTER TABLE outbox_messages DISABLE TRIGGER USER;"
         "UPDATE outbox_messages SET tx = '888888888888';"
         "ALTER TABLE outbox_messages ENABLE TRIGGER USER;"
         "UPDATE outbox_intake SET server = 1, seen = '888888888885:888888888888:888888888885'");
    EXPECT_TRUE(has_arrivals());
    for (int page = 0; page < 3; ++page) take_in(4);
    EXPECT_EQ(due().size(), 10);
    EXPECT_FALSE(has_arrivals());
    must(producer_, insert());
    EXPECT_FALSE(take_in());
    EXPECT_EQ(due().size(), 11);
}

TEST_F(postgres_intake, does_not_forget_what_was_locked_when_it_looked_at_a_dump) {
    must(producer_, insert(2));
    must(eye_,
         "ALTER TABLE outbox_messages DISABLE TRIGGER USER;"
         "UPDATE outbox_messages SET tx = '888888888888';"
         "ALTER TABLE outbox_messages ENABLE TRIGGER USER;"
         "UPDATE outbox_intake SET server = 1, seen = '888888888885:888888888888:'");
    must(other_, "BEGIN; SELECT 1 FROM outbox_messages WHERE seq = 1 FOR UPDATE");
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(2));
    must(other_, "COMMIT");
    EXPECT_TRUE(has_arrivals());
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1, 2));
}

TEST_F(postgres_intake, begins_anew_where_transactions_have_lower_numbers_than_it_has_seen) {
    must(producer_, insert());
    must(eye_, "UPDATE outbox_intake SET seen = '888888888885:888888888888:'");
    EXPECT_TRUE(has_arrivals());
    EXPECT_EQ(number("SELECT count(*) FROM outbox_pending"), 1);
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake, claims_for_a_dispatcher_that_has_its_seat) {
    dispatch();
    must(producer_, insert());
    EXPECT_FALSE(take_in(100, 1));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE claim_epoch = 1"), 1);
    EXPECT_THAT(claim(), ElementsAre(1));
    must(producer_, insert());
    EXPECT_FALSE(succeeded(node().run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(
            node().claims_in(tx).take_in({.rows_max = 100, .epoch = 2, .claimed = {"billing"}}));
        return {};
    })));
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake, begins_anew_where_its_state_was_deleted) {
    must(producer_, insert());
    EXPECT_FALSE(take_in());
    must(eye_, "DELETE FROM outbox_intake");
    must(producer_, insert());
    EXPECT_TRUE(has_arrivals());
    while (take_in()) {
    }
    EXPECT_THAT(due(), ElementsAre(1, 2));
    EXPECT_FALSE(has_arrivals());
}

// As somebody could who may do nothing but INSERT.
// Whatever they do and however long they take: each message that was committed is taken in, once.
TEST_F(postgres_intake, finds_every_message_of_many_producers_once) {
    constexpr int producers = 6;
    constexpr int rounds = 60;
    a_store second(place_);
    must(eye_,
         "CREATE TABLE taken (seq bigint);"
         "CREATE FUNCTION took() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
         " INSERT INTO taken VALUES (NEW.seq); RETURN NULL; END $$;"
         "CREATE TRIGGER took AFTER INSERT ON outbox_due FOR EACH ROW"
         " EXECUTE FUNCTION took()");
    std::atomic<int> refused = 0;
    std::atomic<bool> stored_all = false;
    {
        std::vector<std::jthread> takers;
        for (auto* who : {&node(), &second})
            takers.emplace_back([&, who] {
                for (bool last = false; !last;) {
                    last = stored_all;
                    refused += !who->run([&](store_transaction& tx) -> result<> {
                        const auto taken = who->claims_in(tx).take_in({.rows_max = 7});
                        if (!taken) return std::unexpected(taken.error());
                        last &= !taken->is_more;
                        // Some are sent at once.
                        POSTHORN_TRY(
                            tx.execute("UPDATE outbox_messages SET status = 'Sent' WHERE seq"
                                       " IN (SELECT seq FROM outbox_due WHERE seq % 3 = 0"
                                       " LIMIT 5 FOR UPDATE SKIP LOCKED)",
                                       {}));
                        return {};
                    });
                }
            });
        {
            std::vector<std::jthread> threads;
            for (unsigned p = 0; p < producers; ++p)
                threads.emplace_back([&, p] {
                    seeded_random chance(p + 1);
                    postgres_client one(place_.url());
                    for (int i = 0; i < rounds; ++i) {
                        refused += one.run("BEGIN").has_value();
                        const auto rows = 1 + chance.below(3);
                        for (std::uint64_t n = 0; n < rows; ++n) {
                            refused += one.run(insert()).has_value();
                            if (chance.below(4) == 0)
                                refused += one.run("SELECT count(*) FROM generate_series(1, 5000)")
                                               .has_value();
                        }
                        const bool keeps = chance.below(4) != 0;
                        refused += one.run(keeps ? "COMMIT" : "ROLLBACK").has_value();
                    }
                });
        }
        stored_all = true;
    }
    while (take_in(1'000)) {
    }
    EXPECT_EQ(refused, 0);
    EXPECT_GT(number("SELECT count(*) FROM outbox_messages"), rounds);
    EXPECT_EQ(number("SELECT count(*) FROM taken FULL JOIN outbox_messages USING (seq)"
                     " WHERE taken.seq IS NULL OR message_id IS NULL"),
              0);
    EXPECT_EQ(number("SELECT count(*) - count(DISTINCT seq) FROM taken"), 0);
    EXPECT_TRUE(succeeded(node().get().check_integrity()));
}

}  // namespace
}  // namespace posthorn::conformance
