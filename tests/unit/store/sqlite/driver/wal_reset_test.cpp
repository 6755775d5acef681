// SQLite's WAL-reset bug (docs/adr/0009-wal-reset-guard.md), step by step.
//
// A checkpoint reads the header of the WAL's index, which says how many frames there are, and only
// then how many were copied before. Between the two another connection may start the log anew. The
// checkpoint then takes the number of frames of the old log for that of the new one, and marks
// frames as copied that are yet to be written. What is committed into them is never copied, and is
// gone once the log is.
#include "store/sqlite/driver/wal_guard.hpp"
#include "support/pause_in_checkpoint.hpp"
#include "unit/store/sqlite/files.hpp"
#include "unit/store/sqlite/opened_guard.hpp"

namespace posthorn::sqlite {
namespace {

using test::pause_in_checkpoint;
using test::sqlite_has_the_wal_reset_bug;

class wal_reset : public on_a_file {
protected:
    /// A log of many frames, all copied, so that the next commit starts it anew.
    static void fill_and_copy(plain_handle& db) {
        for (int i = 0; i < 40; ++i)
            ASSERT_EQ(db.run("INSERT INTO t VALUES (zeroblob(3000))"), SQLITE_OK);
        ASSERT_EQ(db.checkpoint(SQLITE_CHECKPOINT_PASSIVE), SQLITE_OK);
    }
    /// Rows that an application was told are committed.
    static void commit_precious(plain_handle& db, int count) {
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(db.run("INSERT INTO precious VALUES (1)"), SQLITE_OK);
    }
    std::int64_t precious_after_all_closed() {
        plain_handle later(path_);
        EXPECT_EQ(later.number("SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check <> 'ok'"),
                  0);
        return later.number("SELECT count(*) FROM precious");
    }
    void SetUp() override {
        ASSERT_EQ(plain_handle(path_).run("CREATE TABLE precious(n)"), SQLITE_OK);
    }
};

TEST_F(wal_reset, loses_committed_rows_where_nobody_holds_the_guards_lock) {
    if (!sqlite_has_the_wal_reset_bug())
        GTEST_SKIP() << "SQLite " << sqlite3_libversion() << " is mended";
    {
        plain_handle writer(path_);
        plain_handle other(path_);
        ASSERT_EQ(other.number("SELECT count(*) FROM t"), 0);
        fill_and_copy(writer);
        const pause_in_checkpoint schedule(other.get(), [&] { commit_precious(writer, 1); });
        EXPECT_EQ(other.checkpoint(SQLITE_CHECKPOINT_PASSIVE), SQLITE_OK);
        ASSERT_TRUE(schedule.reached());
        commit_precious(writer, 9);
        EXPECT_EQ(writer.number("SELECT count(*) FROM precious"), 10);
    }
    EXPECT_LT(precious_after_all_closed(), 10);  // And the file passes its check.
}

TEST_F(wal_reset, cannot_be_met_by_a_foreign_checkpoint_while_the_guard_holds) {
    {
        plain_handle writer(path_);
        plain_handle other(path_);
        ASSERT_EQ(other.number("SELECT count(*) FROM t"), 0);
        fill_and_copy(writer);
        auto guard = wal_guard::open({.path = path_});
        ASSERT_TRUE(guard);
        ASSERT_TRUE((*guard)->hold());
        const pause_in_checkpoint schedule(other.get(), [&] { commit_precious(writer, 1); });
        EXPECT_EQ(other.checkpoint(SQLITE_CHECKPOINT_PASSIVE), SQLITE_BUSY);
        EXPECT_FALSE(schedule.reached());
        commit_precious(writer, 10);
    }
    EXPECT_EQ(precious_after_all_closed(), 10);
}

TEST_F(wal_reset, cannot_be_met_by_the_guards_own_checkpoint_under_the_write_lock) {
    {
        plain_handle ours(path_);
        plain_handle foreign(path_);
        const auto [guard, handle] = open_guard(path_);
        fill_and_copy(ours);
        ASSERT_TRUE(guard->hold());
        int refused = SQLITE_OK;
        const pause_in_checkpoint schedule(
            handle, [&] { refused = foreign.run("INSERT INTO precious VALUES (1)"); });
        ASSERT_EQ(ours.run("BEGIN IMMEDIATE"), SQLITE_OK);
        EXPECT_TRUE(guard->checkpoint());
        ASSERT_EQ(ours.run("ROLLBACK"), SQLITE_OK);
        ASSERT_TRUE(schedule.reached());
        EXPECT_EQ(refused, SQLITE_BUSY);  // Nobody can start the log anew meanwhile.
        commit_precious(foreign, 10);
    }
    EXPECT_EQ(precious_after_all_closed(), 10);
}

}  // namespace
}  // namespace posthorn::sqlite
