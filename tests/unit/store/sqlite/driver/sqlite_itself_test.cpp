// How SQLite itself behaves where the store relies on it. docs/reference/tried-claims.md lists why.
#include <filesystem>

#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

using sqlite_itself = on_a_file;

TEST_F(sqlite_itself, loses_a_whole_transaction_to_one_statement_with_or_rollback) {
    plain_handle db(path_);
    ASSERT_EQ(db.run("CREATE TABLE held(id INTEGER PRIMARY KEY); INSERT INTO held VALUES (1)"),
              SQLITE_OK);
    ASSERT_EQ(db.run("BEGIN IMMEDIATE; SAVEPOINT one; INSERT INTO t VALUES (1); RELEASE one;"
                     "SAVEPOINT two"),
              SQLITE_OK);
    EXPECT_EQ(db.run("INSERT OR ROLLBACK INTO held VALUES (1)"), SQLITE_CONSTRAINT);
    EXPECT_NE(sqlite3_get_autocommit(db.get()), 0);
    EXPECT_NE(db.run("ROLLBACK TO two"), SQLITE_OK);
    EXPECT_EQ(db.number("SELECT count(*) FROM t"), 0);
}

TEST_F(sqlite_itself, finds_a_broken_deferred_key_only_at_the_end_of_the_whole_transaction) {
    plain_handle db(path_);
    ASSERT_EQ(db.run("PRAGMA foreign_keys = ON; CREATE TABLE parent(id INTEGER PRIMARY KEY);"
                     "CREATE TABLE child(id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"),
              SQLITE_OK);
    ASSERT_EQ(db.run("BEGIN IMMEDIATE; SAVEPOINT one; INSERT INTO child VALUES (1); RELEASE one"),
              SQLITE_OK);
    int violations = 0;
    int highest = 0;
    sqlite3_db_status(db.get(), SQLITE_DBSTATUS_DEFERRED_FKS, &violations, &highest, 0);
    EXPECT_NE(violations, 0);  // By this the store finds it in time.
    ASSERT_EQ(db.run("SAVEPOINT two; INSERT INTO t VALUES (1); RELEASE two"), SQLITE_OK);
    EXPECT_EQ(db.run("COMMIT"), SQLITE_CONSTRAINT);
    EXPECT_EQ(db.run("ROLLBACK"), SQLITE_OK);
    EXPECT_EQ(db.number("SELECT count(*) FROM t"), 0);
}

TEST_F(sqlite_itself, checkpoints_passively_while_another_holds_the_write_lock) {
    plain_handle writer(path_);
    plain_handle other(path_);
    ASSERT_EQ(writer.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    ASSERT_EQ(writer.run("BEGIN IMMEDIATE"), SQLITE_OK);
    int in_wal = 0;
    int copied = 0;
    EXPECT_EQ(
        sqlite3_wal_checkpoint_v2(other.get(), "main", SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied),
        SQLITE_OK);
    EXPECT_GT(copied, 0);
    EXPECT_EQ(copied, in_wal);
    ASSERT_EQ(writer.run("ROLLBACK"), SQLITE_OK);
}

TEST_F(sqlite_itself, refuses_the_stronger_checkpoints_while_another_holds_the_write_lock) {
    plain_handle writer(path_);
    plain_handle other(path_);
    ASSERT_EQ(writer.run("INSERT INTO t VALUES (1); BEGIN IMMEDIATE"), SQLITE_OK);
    for (const int mode :
         {SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE})
        EXPECT_EQ(other.checkpoint(mode), SQLITE_BUSY) << mode;
    ASSERT_EQ(writer.run("ROLLBACK"), SQLITE_OK);
    EXPECT_EQ(other.checkpoint(SQLITE_CHECKPOINT_TRUNCATE), SQLITE_OK);
}

TEST_F(sqlite_itself, forgets_a_wal_hook_when_autocheckpoint_is_set) {
    plain_handle db(path_);
    const auto commits_seen_after = [&](const std::string& pragma) {
        int seen = 0;
        const auto hook = [](void* count, sqlite3*, const char*, int) -> int {
            ++*static_cast<int*>(count);
            return SQLITE_OK;
        };
        sqlite3_wal_hook(db.get(), hook, &seen);
        EXPECT_EQ(db.run(pragma), SQLITE_OK);
        EXPECT_EQ(db.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
        sqlite3_wal_hook(db.get(), nullptr, nullptr);
        return seen;
    };
    EXPECT_EQ(commits_seen_after("PRAGMA synchronous = FULL"), 1);
    EXPECT_EQ(commits_seen_after("PRAGMA wal_autocheckpoint = 100"), 0);
}

TEST_F(sqlite_itself, takes_no_incremental_vacuum_in_a_file_that_has_tables) {
    {
        plain_handle db(path_);
        ASSERT_EQ(db.run("PRAGMA auto_vacuum = INCREMENTAL; INSERT INTO t VALUES (1)"), SQLITE_OK);
    }
    EXPECT_EQ(plain_handle(path_).number("PRAGMA auto_vacuum"), 0);
    const auto fresh = path_ + ".fresh";
    {
        plain_handle db(fresh);
        ASSERT_EQ(db.run("PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(n)"), SQLITE_OK);
    }
    EXPECT_EQ(plain_handle(fresh).number("PRAGMA auto_vacuum"), 2);
}

TEST_F(sqlite_itself, loses_a_commit_after_pages_that_it_wrote_early_and_again_were_undone) {
    plain_handle db(path_);
    ASSERT_EQ(db.run("PRAGMA cache_size = 8; CREATE TABLE wide(n INTEGER PRIMARY KEY, filler);"
                     "BEGIN IMMEDIATE; SAVEPOINT part;"
                     "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200)"
                     " INSERT INTO wide SELECT n, randomblob(1500) FROM c;"
                     "UPDATE wide SET filler = randomblob(1500) WHERE n > 100;"
                     "ROLLBACK TO part; RELEASE part; INSERT INTO t VALUES (1); COMMIT"),
              SQLITE_OK);
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 1);
    const conformance::temporary_directory place;
    const auto copy = (place.path() / "copy.db").string();
    std::filesystem::copy_file(path_, copy);
    std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
    EXPECT_EQ(plain_handle(copy).number("SELECT count(*) FROM t"), 0) << "it has been mended";
}

}  // namespace
}  // namespace posthorn::sqlite
