#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "power/fault_disk/plain_database.hpp"

namespace posthorn {
namespace {

constexpr const char* count_rows = "SELECT count(*) FROM t";

class locks : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        ASSERT_EQ(one_.text(fmt::format("PRAGMA journal_mode = {}", GetParam())), GetParam());
        ASSERT_EQ(one_.run("CREATE TABLE t(i INTEGER PRIMARY KEY)"), SQLITE_OK);
    }

    fault_disk disk_{1};
    plain_database one_{disk_, "a.db"};
    plain_database two_{disk_, "a.db"};
};

TEST_P(locks, let_one_writer_in_at_a_time) {
    ASSERT_EQ(one_.run("BEGIN IMMEDIATE"), SQLITE_OK);
    EXPECT_EQ(two_.run("BEGIN IMMEDIATE"), SQLITE_BUSY);
    EXPECT_EQ(two_.number(count_rows), 0);
    ASSERT_EQ(one_.run("INSERT INTO t VALUES (1); COMMIT"), SQLITE_OK);
    EXPECT_EQ(two_.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT"), SQLITE_OK);
    EXPECT_EQ(one_.number(count_rows), 2);
}

TEST_P(locks, go_with_a_closed_connection) {
    ASSERT_EQ(one_.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)"), SQLITE_OK);
    one_.close();
    EXPECT_EQ(two_.number(count_rows), 0);
    EXPECT_EQ(two_.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT"), SQLITE_OK);
}

INSTANTIATE_TEST_SUITE_P(journal, locks, testing::Values("wal", "delete"),
                         [](const auto& each) { return std::string(each.param); });

using wal_locks = locks;

TEST_P(wal_locks, leave_a_reader_its_snapshot) {
    ASSERT_EQ(two_.run("BEGIN"), SQLITE_OK);
    ASSERT_EQ(two_.number(count_rows), 0);
    ASSERT_EQ(one_.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_EQ(two_.number(count_rows), 0);
    EXPECT_EQ(two_.run("INSERT INTO t VALUES (2)"), SQLITE_BUSY);  // Its snapshot is old.
    ASSERT_EQ(two_.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(two_.number(count_rows), 1);
}

TEST_P(wal_locks, keep_a_checkpoint_from_what_a_reader_needs) {
    ASSERT_EQ(one_.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    ASSERT_EQ(two_.run("BEGIN"), SQLITE_OK);
    ASSERT_EQ(two_.number(count_rows), 1);
    ASSERT_EQ(one_.run("INSERT INTO t VALUES (2)"), SQLITE_OK);
    int frames = 0;
    int done = 0;
    EXPECT_EQ(sqlite3_wal_checkpoint_v2(one_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames,
                                        &done),
              SQLITE_OK);
    EXPECT_LT(done, frames);
    EXPECT_EQ(sqlite3_wal_checkpoint_v2(one_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                        nullptr),
              SQLITE_BUSY);
    ASSERT_EQ(two_.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(sqlite3_wal_checkpoint_v2(one_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                        nullptr),
              SQLITE_OK);
    EXPECT_TRUE(disk_.contents("a.db-wal").empty());
}

INSTANTIATE_TEST_SUITE_P(journal, wal_locks, testing::Values("wal"));

using rollback_locks = locks;

TEST_P(rollback_locks, make_a_commit_wait_for_readers_and_keep_new_ones_out) {
    ASSERT_EQ(two_.run("BEGIN"), SQLITE_OK);
    ASSERT_EQ(two_.number(count_rows), 0);
    ASSERT_EQ(one_.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_EQ(one_.run("COMMIT"), SQLITE_BUSY);
    plain_database three(disk_, "a.db");
    EXPECT_EQ(three.run(count_rows), SQLITE_BUSY);
    ASSERT_EQ(two_.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(one_.run("COMMIT"), SQLITE_OK);
    EXPECT_EQ(three.number(count_rows), 1);
}

INSTANTIATE_TEST_SUITE_P(journal, rollback_locks, testing::Values("delete"));

TEST_P(locks, hold_between_threads) {
    constexpr int each = 200;
    disk_.on_sleep([](int) { std::this_thread::yield(); });
    const auto work = [&](int first) {
        plain_database db(disk_, "a.db");
        for (int i = first; i < first + each;) {
            const auto done = db.run(fmt::format("INSERT INTO t VALUES ({})", i));
            if (done == SQLITE_OK) ++i;
            if (done == SQLITE_BUSY) std::this_thread::yield();
            ASSERT_TRUE(done == SQLITE_OK || done == SQLITE_BUSY) << sqlite3_errmsg(db.handle());
        }
    };
    std::thread left(work, 0);
    std::thread right(work, each);
    left.join();
    right.join();
    EXPECT_EQ(one_.number(count_rows), 2 * each);
    EXPECT_EQ(one_.text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace posthorn
