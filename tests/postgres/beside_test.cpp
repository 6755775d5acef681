// What a program has changed in outbox_due: every message that is pending is found again.
#include "base/async/virtual_time.hpp"
#include "postgres/intake.hpp"
#include "store/old_rows.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class postgres_beside : public postgres_intake {
protected:
    std::size_t mend() {
        std::size_t mended = 0;
        slice_outcome done{.more = true};
        while (done.more && !HasFailure())
            EXPECT_TRUE(succeeded(node().run([&](store_transaction& tx) -> result<> {
                const slice room(still_, 2, 1h);
                POSTHORN_LET(some, tx.old().mend_beside(room));
                done = some;
                mended += done.rows;
                return {};
            })));
        return mended;
    }

    virtual_time still_;
};

TEST_F(postgres_beside, finds_messages_again_whose_rows_were_deleted) {
    must(producer_, insert(5));
    take_in();
    must(producer_, "DELETE FROM outbox_due WHERE seq IN (2, 4)");
    EXPECT_EQ(mend(), 2U);
    EXPECT_THAT(due(), ElementsAre(1, 2, 3, 4, 5));
    must(producer_, "TRUNCATE outbox_due");
    EXPECT_EQ(mend(), 5U);
    dispatch();
    EXPECT_THAT(claim(), ElementsAre(1, 2, 3, 4, 5)) << "a sweep finds them";
    EXPECT_EQ(mend(), 0U);
}

TEST_F(postgres_beside, leaves_what_is_still_to_be_taken_in) {
    must(producer_, insert(2));
    take_in();
    must(producer_, insert(2));
    EXPECT_EQ(mend(), 0U);
    EXPECT_TRUE(has_arrivals());
    must(producer_, "DELETE FROM outbox_intake");
    EXPECT_EQ(mend(), 0U);
    take_in();
    take_in();
    EXPECT_THAT(due(), ElementsAre(1, 2, 3, 4));
}

TEST_F(postgres_beside, finds_what_was_never_taken_in_because_the_state_says_it_was) {
    must(producer_, insert(3));
    must(producer_, "UPDATE outbox_intake SET seen = pg_current_snapshot(), seen_but_for = '{}'");
    take_in();
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_EQ(mend(), 3U);
    EXPECT_THAT(due(), ElementsAre(1, 2, 3));
}

TEST_F(postgres_beside, corrects_rows_that_do_not_say_what_their_message_says) {
    must(producer_, insert(4));
    take_in();
    must(producer_, "UPDATE outbox_due SET next_retry_at = 1800000000000 WHERE seq = 1");
    must(producer_, "UPDATE outbox_due SET destination = 'elsewhere', tenant = 'x' WHERE seq = 2");
    must(producer_, "UPDATE outbox_due SET order_key = 'k', priority = -9 WHERE seq = 3");
    must(producer_,
         "INSERT INTO outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at)"
         " VALUES (77, 'billing', '', 0, 0, 1)");
    EXPECT_EQ(mend(), 4U);
    EXPECT_EQ(mend(), 0U);
    EXPECT_THAT(due(), ElementsAre(1, 2, 3, 4));
    dispatch();
    EXPECT_THAT(claim(), ElementsAre(1, 2, 3, 4));
}

TEST_F(postgres_beside, lets_the_intake_begin_anew_where_it_cannot_go_on) {
    must(producer_, insert(3));
    must(producer_,
         "UPDATE outbox_intake SET until = '5:5:', until_but_for = NULL, last_tx = NULL,"
         " last_seq = NULL");
    EXPECT_EQ(mend(), 1U);
    take_in();
    take_in();
    EXPECT_THAT(due(), ElementsAre(1, 2, 3));
    EXPECT_EQ(mend(), 0U);
}

TEST_F(postgres_beside, waits_for_what_another_is_changing) {
    must(producer_, insert(2));
    take_in();
    must(producer_, "DELETE FROM outbox_due");
    must(producer_, "BEGIN");
    must(producer_, "UPDATE outbox_messages SET status = 'Resolved' WHERE seq = 1");
    EXPECT_EQ(mend(), 1U);
    must(producer_, "COMMIT");
    EXPECT_EQ(mend(), 0U);
    EXPECT_THAT(due(), ElementsAre(2)) << "and not what is closed by now";
}

}  // namespace
}  // namespace posthorn::conformance
