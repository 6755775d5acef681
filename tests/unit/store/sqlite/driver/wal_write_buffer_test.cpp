// One write for the pages of a commit, on a log whose writes are counted and can be made to fail.
#include "store/sqlite/driver/wal_write_buffer.hpp"

#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

/// Counts what goes into a connection's log.
class log_watch {
public:
    explicit log_watch(sqlite3* handle) {
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                             static_cast<void*>(&file_));
        real_ = file_->pMethods;
        watched_ = *real_;
        watched_.xWrite = [](sqlite3_file* file, const void* data, int size,
                             sqlite3_int64 at) -> int {
            ++present->writes;
            if (present->full_after && present->writes > *present->full_after) {
                if (present->room_again) present->full_after.reset();
                return SQLITE_FULL;
            }
            return present->real_->xWrite(file, data, size, at);
        };
        present = this;
        file_->pMethods = &watched_;
    }
    ~log_watch() { file_->pMethods = real_; }
    log_watch(const log_watch&) = delete;
    log_watch& operator=(const log_watch&) = delete;

    int writes = 0;
    std::optional<int> full_after;  // That many writes still find room,
    bool room_again = false;        // and all after one that did not.

private:
    inline static log_watch* present = nullptr;
    sqlite3_file* file_ = nullptr;
    const sqlite3_io_methods* real_ = nullptr;
    sqlite3_io_methods watched_{};
};

class a_gathered_log : public on_a_file {
protected:
    a_gathered_log() : database_(*connection::open({.path = path_})), commit_(database_, "COMMIT") {
        EXPECT_TRUE(
            database_.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
                              "CREATE TABLE kept (k INTEGER PRIMARY KEY, v INTEGER, filler BLOB);"
                              "CREATE INDEX by_v ON kept (v)"));
    }

    void run(const std::string& sql) { ASSERT_TRUE(database_.execute(sql.c_str())) << sql; }
    result<> commit() { return log_.run(database_, commit_); }

    /// What somebody finds who has the files alone, as after a power cut.
    std::map<std::int64_t, std::int64_t> found_later() {
        const conformance::temporary_directory place;
        const auto copy = (place.path() / "copy.db").string();
        std::filesystem::copy_file(path_, copy);
        std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
        plain_handle there(copy);
        EXPECT_EQ(there.number("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        std::map<std::int64_t, std::int64_t> rows;
        const auto take = [](void* into, int, char** row, char**) {
            static_cast<decltype(rows)*>(into)->emplace(std::stoll(row[0]), std::stoll(row[1]));
            return 0;
        };
        sqlite3_exec(there.get(), "SELECT k, v FROM kept", take, &rows, nullptr);
        return rows;
    }

    connection database_;
    statement commit_;
    wal_write_buffer log_;
};

TEST_F(a_gathered_log, writes_all_pages_of_a_commit_with_one_call) {
    const log_watch watch(database_.handle());
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (1, 10, NULL); INSERT INTO t VALUES (1)");
    ASSERT_TRUE(commit());
    EXPECT_EQ(watch.writes, 1);
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (2, 20, NULL); INSERT INTO t VALUES (2)");
    run("COMMIT");
    EXPECT_EQ(watch.writes, 1 + 3 * 2) << "what SQLite does by itself";
    EXPECT_EQ(found_later(), (std::map<std::int64_t, std::int64_t>{{1, 10}, {2, 20}}));
}

TEST_F(a_gathered_log, is_whole_for_others_once_the_commit_is_done_though_nothing_is_synced) {
    for (const auto* const level : {"FULL", "NORMAL", "OFF"}) {
        run(fmt::format("PRAGMA synchronous = {}", level));
        run("BEGIN IMMEDIATE; DELETE FROM kept; INSERT INTO kept VALUES (1, 10, NULL)");
        ASSERT_TRUE(commit());
        EXPECT_EQ(plain_handle(path_).number("SELECT v FROM kept"), 10) << level;
        EXPECT_EQ(found_later(), (std::map<std::int64_t, std::int64_t>{{1, 10}})) << level;
    }
}

TEST_F(a_gathered_log, takes_commits_of_any_size) {
    for (const int rows : {26, 27, 28, 29, 30, 31, 32, 33, 34, 1'000}) {
        run("BEGIN IMMEDIATE; DELETE FROM kept");
        run(fmt::format(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {})"
            " INSERT INTO kept SELECT i, i, randomblob(3500) FROM n",
            rows));
        ASSERT_TRUE(commit()) << rows;
        EXPECT_EQ(found_later().size(), rows);
    }
}

TEST_F(a_gathered_log, leaves_nothing_of_a_commit_that_found_no_room) {
    log_watch watch(database_.handle());
    watch.full_after = 0;
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (1, 10, NULL)");
    const auto refused = commit();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_full);
    // Somebody else has the place in the log by now.
    ASSERT_EQ(plain_handle(path_).run("INSERT INTO kept VALUES (2, 20, NULL)"), SQLITE_OK);
    watch.full_after.reset();
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (3, 30, NULL)");
    ASSERT_TRUE(commit());
    EXPECT_EQ(found_later(), (std::map<std::int64_t, std::int64_t>{{2, 20}, {3, 30}}));
}

// SQLite reads while it undoes a commit, the first page for one, and by then there may be room.
TEST_F(a_gathered_log, does_not_bring_a_commit_into_the_file_that_was_refused) {
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (1, 10, NULL)");
    ASSERT_TRUE(commit());
    log_watch watch(database_.handle());
    watch.full_after = 0;
    watch.room_again = true;
    run("BEGIN IMMEDIATE; INSERT INTO kept VALUES (2, 20, zeroblob(20000))");
    ASSERT_FALSE(commit());
    EXPECT_FALSE(watch.full_after);
    EXPECT_EQ(found_later(), (std::map<std::int64_t, std::int64_t>{{1, 10}}));
}

/// Transactions of all sizes, some undone in part, some that outgrow SQLite's memory and so write
/// pages before their commit and again at it, some that find no room; others write in between.
TEST_F(a_gathered_log, holds_what_was_committed_whatever_came_before) {
    seeded_random random{11};
    std::map<std::int64_t, std::int64_t> expected;
    plain_handle other(path_);
    run("PRAGMA cache_size = 8; PRAGMA cache_spill = OFF");
    const auto change = [&](auto& rows, auto&& execute) {
        for (auto left = random.below(60); left > 0; --left) {
            const auto key = static_cast<std::int64_t>(random.below(300));
            const auto value = static_cast<std::int64_t>(random.below(1'000));
            execute(fmt::format("INSERT OR REPLACE INTO kept VALUES ({}, {}, zeroblob({}))", key,
                                value, random.below(3'000)));
            rows[key] = value;
        }
    };
    const auto ours = [&](const std::string& sql) { run(sql); };
    int full = 0;
    for (int i = 0; i < 100; ++i) {
        log_watch watch(database_.handle());
        auto rows = expected;
        run("BEGIN IMMEDIATE");
        change(rows, ours);
        if (random.below(3) == 0) {
            auto undone = rows;
            run("SAVEPOINT part");
            change(undone, ours);
            run("ROLLBACK TO part; RELEASE part");
            change(rows, ours);
        }
        watch.writes = 0;
        if (random.below(4) == 0) watch.full_after = static_cast<int>(random.below(3));
        if (random.below(5) == 0) {
            run("ROLLBACK");
        } else if (commit()) {
            expected = rows;
        } else {
            ++full;
            EXPECT_TRUE(watch.full_after);
        }
        if (random.below(4) == 0)
            change(expected, [&](const std::string& sql) { ASSERT_EQ(other.run(sql), SQLITE_OK); });
        if (random.below(10) == 0) other.checkpoint(SQLITE_CHECKPOINT_RESTART);
        ASSERT_EQ(found_later(), expected) << i;
    }
    EXPECT_GT(full, 5);
}

}  // namespace
}  // namespace posthorn::sqlite
