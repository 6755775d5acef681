// How much work reads, as the server counts it: no more beside thousands of rows that are due than
// beside none.
#include "conformance/store/postgres_intake.hpp"

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
    /// Rows of outbox_due that are read by what is done, and then taken back.
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
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relid = 'outbox_due'::regclass");
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

}  // namespace
}  // namespace posthorn::conformance
