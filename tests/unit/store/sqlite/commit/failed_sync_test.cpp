// A store whose disk could not sync: what the log holds may be missing on the disk, so nothing is
// copied from it on the strength of a later sync.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/async/executor.hpp"
#include "base/async/virtual_time.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sqlite {
namespace {

constexpr const char* path = "orders.db";

class failed_sync : public ::testing::Test {
protected:
    result<std::unique_ptr<store>> open_store() {
        return open({.path = path, .service = "orders", .vfs = disk_.vfs_name()},
                    {time_, writer_, log_});
    }
    /// As a producer with plain SQL, whose commit is visible and not on disk.
    void insert() {
        sqlite3* raw = nullptr;
        ASSERT_EQ(sqlite3_open_v2(path, &raw, SQLITE_OPEN_READWRITE, disk_.vfs_name()), SQLITE_OK);
        sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        EXPECT_EQ(sqlite3_exec(raw,
                               "PRAGMA synchronous = NORMAL; INSERT INTO outbox_messages"
                               " (destination, endpoint, payload) VALUES ('stock', 'Take', '{}')",
                               nullptr, nullptr, nullptr),
                  SQLITE_OK);
        sqlite3_close(raw);
    }

    fault_disk disk_{1};
    virtual_time time_;
    inline_executor writer_;
    logger log_ = logger::null();
};

TEST_F(failed_sync, at_the_start_leaves_the_database_as_it_is) {
    ASSERT_TRUE(open_store());
    insert();
    const auto before = disk_.contents(path);
    disk_.fail_next_syncs(1);
    EXPECT_FALSE(open_store());
    EXPECT_EQ(disk_.contents(path), before);
    EXPECT_TRUE(disk_.exists(std::string(path) + "-wal"));
}

TEST_F(failed_sync, of_a_commit_leaves_the_database_as_it_is_when_the_store_closes) {
    auto opened = open_store();
    ASSERT_TRUE(opened);
    insert();
    const auto before = disk_.contents(path);
    disk_.fail_next_syncs(1);
    bool committed = true;
    (*opened)->submit({.work = [](store_transaction& tx) -> result<> {
                           POSTHORN_TRY(tx.execute("DELETE FROM outbox_messages", {}));
                           return {};
                       },
                       .done = [&](const result<>& done) { committed = done.has_value(); }});
    EXPECT_FALSE(committed);
    opened->reset();
    EXPECT_EQ(disk_.contents(path), before);
}

TEST_F(failed_sync, of_a_checkpoint_stops_the_store_too) {
    // With NORMAL only checkpoints sync.
    auto opened = open({.path = path,
                        .service = "orders",
                        .vfs = disk_.vfs_name(),
                        .sync = synchronous::normal,
                        .wal_pages_checkpoint = 1},
                       {time_, writer_, log_});
    ASSERT_TRUE(opened);
    disk_.fail_next_syncs(1);
    result<> first;
    const auto insert_one = [&](result<>& answer) {
        (*opened)->submit({.work = [](store_transaction& tx) -> result<> {
                               POSTHORN_TRY(tx.execute("CREATE TABLE IF NOT EXISTS t (n)", {}));
                               return {};
                           },
                           .done = [&](result<> done) { answer = std::move(done); }});
    };
    insert_one(first);
    EXPECT_TRUE((*opened)->has_failed());
    result<> second;
    insert_one(second);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), error_code::store_failed);
    EXPECT_FALSE((*opened)->upkeep()->compact());
}

TEST_F(failed_sync, that_never_came_lets_a_store_that_stops_copy_its_log) {
    {
        auto opened = open_store();
        ASSERT_TRUE(opened);
        insert();
    }
    EXPECT_FALSE(disk_.exists(std::string(path) + "-wal"));
}

}  // namespace
}  // namespace posthorn::sqlite
