#include "store/sqlite/schema/set_defaults.hpp"

#include <array>

#include <gtest/gtest.h>

#include "base/time/clock.hpp"
#include "store/sqlite/schema/migrate.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;

class row_defaults_of_a_file : public testing::Test {
protected:
    void SetUp() override {
        const std::array<migration_set, 1> tables{store_tables()};
        ASSERT_TRUE(migrate(file_, tables, real_clock{}));
    }
    std::int64_t number(const char* sql) { return file_.integer(sql).value(); }

    test::temporary_directory folder_;
    connection file_ = connection::open({.path = folder_.file("a.db"), .create = true}).value();
};

TEST_F(row_defaults_of_a_file, are_not_written_again_if_they_are_there) {
    const auto before = number("PRAGMA schema_version");
    ASSERT_TRUE(set_row_defaults(file_, {}));
    EXPECT_EQ(number("PRAGMA schema_version"), before);
    const row_defaults others{.max_retries = 7, .expires_in = 1h};
    ASSERT_TRUE(set_row_defaults(file_, others));
    ASSERT_TRUE(set_row_defaults(file_, others));
    EXPECT_EQ(number("PRAGMA schema_version"), before + 1);
    EXPECT_EQ(number("PRAGMA writable_schema"), 0);
}

TEST_F(row_defaults_of_a_file, are_seen_by_connections_that_were_open_before) {
    auto other = connection::open({.path = folder_.file("a.db")}).value();
    const auto* const insert =
        "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('a', 'b', '1')";
    ASSERT_TRUE(other.execute(insert));
    ASSERT_TRUE(set_row_defaults(file_, {.max_retries = -1, .expires_in = 1h}));
    ASSERT_TRUE(other.execute(insert));
    EXPECT_EQ(number("SELECT max_retries FROM outbox_messages WHERE seq = 1"), 5);
    EXPECT_EQ(number("SELECT max_retries FROM outbox_messages WHERE seq = 2"), -1);
    EXPECT_EQ(number("SELECT expires_at - created_at FROM outbox_messages WHERE seq = 2"), 3600000);
}

TEST_F(row_defaults_of_a_file, leave_a_table_alone_that_is_not_as_it_was_made) {
    EXPECT_EQ(with_defaults("CREATE TABLE outbox_messages (max_retries INTEGER)", {}),
              std::nullopt);
    ASSERT_TRUE(file_.execute("ALTER TABLE outbox_messages RENAME COLUMN max_retries TO tries"));
    const auto refused = set_row_defaults(file_, {.max_retries = 7, .expires_in = 1h});
    ASSERT_FALSE(refused);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);
}

}  // namespace
}  // namespace posthorn::sqlite
