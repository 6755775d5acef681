#include "store/postgres/driver/failures.hpp"

#include <gtest/gtest.h>

namespace posthorn::postgres {
namespace {

TEST(postgres_failures, say_what_a_caller_can_do) {
    EXPECT_EQ(classify("25006"), error_code::store_read_only);
    EXPECT_EQ(classify("57P01"), error_code::store_unavailable);
    EXPECT_EQ(classify("08006"), error_code::store_unavailable);
    EXPECT_EQ(classify("53300"), error_code::store_unavailable);
    EXPECT_EQ(classify("53100"), error_code::store_full);
    EXPECT_EQ(classify("40P01"), error_code::store_busy);
    EXPECT_EQ(classify("57014"), error_code::statement_interrupted);
    EXPECT_EQ(classify("23505"), error_code::statement_failed);
    EXPECT_EQ(classify(""), error_code::statement_failed);
}

TEST(postgres_failures, name_the_right_that_is_missing) {
    EXPECT_EQ(missing_grant("permission denied for table outbox_due", "app", "\"my\""),
              "GRANT SELECT, INSERT, UPDATE, DELETE ON \"my\".outbox_due TO app");
    EXPECT_EQ(missing_grant("permission denied for sequence dispatcher_epochs", "app", "\"my\""),
              "GRANT USAGE ON SEQUENCE \"my\".dispatcher_epochs TO app");
    EXPECT_EQ(missing_grant("permission denied for table orders", "app", "\"my\""),
              "GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO app");
    EXPECT_EQ(missing_grant("permission denied for schema outbox", "app", "\"my\""),
              "GRANT USAGE ON SCHEMA outbox TO app (and CREATE, if it is to make the tables)");
    EXPECT_EQ(missing_grant("permission denied for database orders", "app", "\"my\""),
              "GRANT CREATE ON DATABASE orders TO app");
    EXPECT_EQ(missing_grant("something else", "app", "\"my\""), "");
}

}  // namespace
}  // namespace posthorn::postgres
