// How much work reads, as the server counts it: no more beside thousands of rows that are due than
// beside none.
#include "postgres/intake.hpp"

namespace posthorn::conformance {
namespace {

class postgres_reads : public postgres_intake {
protected:
    static constexpr int rows_beside = 3'000;

    void SetUp() override {
        must(producer_, insert(rows_beside));
        while (take_in(1'000)) {
        }
        // So that the server plans for as many as there are.
        must(producer_, "ANALYZE outbox_due");
        must(producer_, "ANALYZE outbox_messages");
    }
    /// Rows of outbox_due and entries of its indexes that are read by what is done, and then taken
    /// back.
    std::int64_t reads_of(const std::string& sql) {
        must(other_, "BEGIN");
        const auto before = reads();
        must(other_, sql);
        const auto read = reads() - before;
        must(other_, "ROLLBACK");
        return read;
    }

private:
    std::int64_t reads() {
        const auto counted = other_.rows(
            "SELECT sum(pg_stat_get_xact_tuples_returned(oid)) FROM (SELECT 'outbox_due'::regclass"
            " UNION SELECT indexrelid FROM pg_index WHERE indrelid = 'outbox_due'::regclass)"
            " AS t(oid)");
        return std::stoll(counted.at(0).at(0).value());
    }
};

TEST_F(postgres_reads, are_as_few_as_the_messages_that_are_settled) {
    EXPECT_THAT(reads_of("UPDATE outbox_messages SET status = 'Sent' WHERE seq <= 50"),
                ::testing::AllOf(::testing::Ge(50), ::testing::Le(150)));
    EXPECT_THAT(reads_of("UPDATE outbox_messages SET status = 'Resolved' WHERE seq <= 50"),
                ::testing::AllOf(::testing::Ge(50), ::testing::Le(150)));
    EXPECT_THAT(reads_of("UPDATE outbox_messages SET next_retry_at = 7 WHERE seq <= 50"),
                ::testing::AllOf(::testing::Ge(50), ::testing::Le(250)));
    EXPECT_THAT(reads_of("DELETE FROM outbox_messages WHERE seq <= 50"),
                ::testing::AllOf(::testing::Ge(50), ::testing::Le(150)));
}

TEST_F(postgres_reads, are_as_few_as_the_messages_that_are_taken_in) {
    must(producer_, insert(50));
    EXPECT_LE(reads_of("SELECT take_in(1000, 0, '{}')"), 100);
    EXPECT_TRUE(has_arrivals());
    EXPECT_FALSE(take_in());
    EXPECT_EQ(due().size(), rows_beside + 50);
}

// It would be where a plan is kept that was made for one.
TEST_F(postgres_reads, are_not_quadratic_for_a_change_of_many_after_that_of_one) {
    must(producer_, insert(7'000));
    while (take_in(1'000)) {
    }
    must(other_, "SET statement_timeout = '4s'");  // A hundred times what it takes.
    must(other_, "UPDATE outbox_messages SET next_retry_at = 7 WHERE seq = 1");
    must(other_, "UPDATE outbox_messages SET next_retry_at = 8");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 8"), 10'000);
    must(other_, "UPDATE outbox_messages SET status = 'Resolved'");
    must(other_, "UPDATE outbox_messages SET destination = 'stock'");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed WHERE destination = 'stock'"), 10'000);
}

}  // namespace
}  // namespace posthorn::conformance
