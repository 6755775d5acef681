// What is done to a primary besides commits, while its standby follows.
#include <gmock/gmock.h>

#include "standby/promotion.hpp"
#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

class a_pair_on_odd_days : public testing::Test {
protected:
    void start_standby() {
        standby_.emplace(copy_, port_);
        port_ = standby_->port();
    }
    void start_primary() {
        primary_.emplace(database_, shipper_options{.to = {"127.0.0.1", port_},
                                                    .access = access_of(1),
                                                    .stream = {std::byte{5}},
                                                    .service = "orders",
                                                    .beat = milliseconds{20}});
    }
    void place_orders(int count) {
        ASSERT_TRUE(
            primary_->commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY, note)"));
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(
                primary_->commit("INSERT INTO orders (note) VALUES (hex(randomblob(3000)))"));
    }
    void wait_until_in_step() {
        ASSERT_TRUE(test::eventually([&] {
            const auto seen = primary_->report();
            return seen.how == ship_report::state::following && seen.behind == 0;
        })) << primary_->report().trouble;
    }
    void expect_equal_files(std::int64_t orders) {
        primary_.reset();
        standby_.reset();
        EXPECT_EQ(rows_after_promotion(copy_), orders);
        test::sqlite_file(database_).run("PRAGMA wal_checkpoint(TRUNCATE)");
        EXPECT_TRUE(bytes_of(database_) == bytes_of(copy_));
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    std::filesystem::path copy_ = folder_.file("copy.db");
    std::uint16_t port_ = 0;
    std::optional<running_standby> standby_;
    std::optional<running_primary> primary_;
};

TEST_F(a_pair_on_odd_days, ships_all_of_a_file_that_is_written_anew) {
    start_standby();
    start_primary();
    place_orders(60);
    wait_until_in_step();
    ASSERT_TRUE(primary_->commit("DELETE FROM orders WHERE n % 3 = 0"));
    const auto copies = primary_->report().copies;
    const auto done = primary_->store().upkeep()->compact();
    ASSERT_TRUE(done) << done.error().what();
    place_orders(2);
    wait_until_in_step();
    EXPECT_EQ(primary_->report().copies, copies);  // By the log alone.
    expect_equal_files(42);
}

TEST_F(a_pair_on_odd_days, follows_a_backup_that_is_restored) {
    start_standby();
    start_primary();
    place_orders(5);
    wait_until_in_step();
    primary_.reset();
    const auto backup = folder_.file("backup.db");
    test::sqlite_file(database_).run("VACUUM INTO '" + backup + "'");
    start_primary();
    place_orders(3);
    wait_until_in_step();
    primary_.reset();
    std::filesystem::remove(database_.string() + "-wal");
    std::filesystem::remove(database_.string() + "-shm");
    std::filesystem::copy_file(backup, database_,
                               std::filesystem::copy_options::overwrite_existing);
    start_primary();
    wait_until_in_step();
    EXPECT_EQ(primary_->report().copies, 1U);  // Page by page.
    place_orders(1);
    expect_equal_files(6);
}

TEST_F(a_pair_on_odd_days, ships_tables_that_are_made_and_changed) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    ASSERT_TRUE(primary_->commit("ALTER TABLE orders ADD COLUMN more TEXT DEFAULT 'x'"));
    ASSERT_TRUE(primary_->commit("CREATE INDEX by_more ON orders (more)"));
    start_primary();  // With all that a start does to its tables.
    place_orders(1);
    wait_until_in_step();
    expect_equal_files(2);
}

TEST_F(a_pair_on_odd_days, has_two_that_refuse_each_other_once_both_were_promoted) {
    start_standby();
    start_primary();
    place_orders(1);
    wait_until_in_step();
    standby_.reset();
    ASSERT_TRUE(promote({.database = copy_}));
    // The one that was not asked takes nothing in without a standby of its epoch.
    const auto alone = primary_->commit("INSERT INTO orders (note) VALUES ('lost')");
    EXPECT_FALSE(alone);
    const auto other = kept_copy::open(copy_);
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().what(), testing::HasSubstr("is a primary's"));
}

}  // namespace
}  // namespace posthorn::standby
