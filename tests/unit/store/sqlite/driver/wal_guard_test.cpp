#include "store/sqlite/driver/wal_guard.hpp"

#include <algorithm>
#include <cstring>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/fault_disk/fault_disk.hpp"
#include "support/process.hpp"
#include "unit/store/sqlite/files.hpp"
#include "unit/store/sqlite/opened_guard.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto every_mode = {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL,
                             SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE};

class a_wal_guard : public on_a_file {
protected:
    a_wal_guard() {
        EXPECT_EQ(writer_.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
        auto opened = wal_guard::open({.path = path_});
        EXPECT_TRUE(opened) << opened.error().what();
        guard_ = *std::move(opened);
    }

    plain_handle writer_{path_};
    std::unique_ptr<wal_guard> guard_;
};

TEST_F(a_wal_guard, keeps_other_connections_from_checkpointing) {
    plain_handle other(path_);
    ASSERT_TRUE(guard_->hold());
    for (const int mode : every_mode) EXPECT_EQ(other.checkpoint(mode), SQLITE_BUSY) << mode;
    guard_->release();
    for (const int mode : every_mode) EXPECT_EQ(other.checkpoint(mode), SQLITE_OK) << mode;
}

TEST_F(a_wal_guard, keeps_other_processes_from_checkpointing) {
    const auto code_in_another_process = [&](const std::string& mode) {
        const auto done = test::run_process({POSTHORN_SQLITE_CHILD, "checkpoint", path_, mode});
        EXPECT_EQ(done.end, (test::process_end{.exit_code = 0})) << done.err;
        return std::stoi(done.out);
    };
    ASSERT_TRUE(guard_->hold());
    for (const auto* mode : {"passive", "full", "restart", "truncate"})
        EXPECT_EQ(code_in_another_process(mode), SQLITE_BUSY) << mode;
    guard_->release();
    EXPECT_EQ(code_in_another_process("passive"), SQLITE_OK);
}

TEST_F(a_wal_guard, keeps_the_automatic_checkpoint_of_others_from_running) {
    plain_handle other(path_);
    ASSERT_TRUE(guard_->hold());
    ASSERT_EQ(other.run("PRAGMA wal_autocheckpoint = 1"), SQLITE_OK);
    const auto size = std::filesystem::file_size(path_);
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(other.run("INSERT INTO t VALUES (zeroblob(5000))"), SQLITE_OK);
    EXPECT_EQ(std::filesystem::file_size(path_), size);
    guard_->release();
    ASSERT_EQ(other.run("INSERT INTO t VALUES (2)"), SQLITE_OK);
    EXPECT_GT(std::filesystem::file_size(path_), size);
}

TEST_F(a_wal_guard, checkpoints_itself_under_the_write_lock_of_another_connection) {
    ASSERT_TRUE(guard_->hold());
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(writer_.run("INSERT INTO t VALUES (zeroblob(5000))"), SQLITE_OK);
    const auto size = std::filesystem::file_size(path_);
    ASSERT_EQ(writer_.run("BEGIN IMMEDIATE"), SQLITE_OK);
    EXPECT_TRUE(guard_->checkpoint());
    ASSERT_EQ(writer_.run("ROLLBACK"), SQLITE_OK);
    EXPECT_GT(std::filesystem::file_size(path_), size);
    EXPECT_TRUE(guard_->holds());
    EXPECT_EQ(plain_handle(path_).checkpoint(SQLITE_CHECKPOINT_PASSIVE), SQLITE_BUSY);
}

/// Counts how often a connection gives the checkpoint's lock back.
class lock_watch {
public:
    explicit lock_watch(sqlite3* handle) {
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file_));
        real_ = file_->pMethods;
        watched_ = *real_;
        watched_.xShmLock = [](sqlite3_file* file, int first, int count, int flags) -> int {
            if (first == 1 && (flags & SQLITE_SHM_UNLOCK) != 0) ++present->unlocked_;
            return present->real_->xShmLock(file, first, count, flags);
        };
        present = this;
        file_->pMethods = &watched_;
    }
    ~lock_watch() { file_->pMethods = real_; }
    lock_watch(const lock_watch&) = delete;
    lock_watch& operator=(const lock_watch&) = delete;

    [[nodiscard]] int unlocked() const { return unlocked_; }

private:
    inline static lock_watch* present = nullptr;
    sqlite3_file* file_ = nullptr;
    const sqlite3_io_methods* real_ = nullptr;
    sqlite3_io_methods watched_{};
    int unlocked_ = 0;
};

TEST_F(a_wal_guard, never_lets_go_in_a_checkpoint_of_its_own) {
    guard_.reset();
    const auto [guard, handle] = open_guard(path_);
    ASSERT_TRUE(guard->hold());
    ASSERT_EQ(writer_.run("INSERT INTO t VALUES (zeroblob(5000))"), SQLITE_OK);
    const auto size = std::filesystem::file_size(path_);
    const lock_watch watch(handle);
    ASSERT_EQ(writer_.run("BEGIN IMMEDIATE"), SQLITE_OK);
    EXPECT_TRUE(guard->checkpoint());
    ASSERT_EQ(writer_.run("ROLLBACK"), SQLITE_OK);
    EXPECT_GT(std::filesystem::file_size(path_), size);
    EXPECT_EQ(watch.unlocked(), 0);
    EXPECT_EQ(plain_handle(path_).checkpoint(SQLITE_CHECKPOINT_PASSIVE), SQLITE_BUSY);
    guard->release();
    EXPECT_EQ(watch.unlocked(), 1);
}

TEST_F(a_wal_guard, of_a_second_node_does_not_hold_until_the_first_lets_go) {
    auto second = wal_guard::open({.path = path_});
    ASSERT_TRUE(second);
    ASSERT_TRUE(guard_->hold());
    EXPECT_FALSE((*second)->hold());
    guard_->release();
    EXPECT_TRUE((*second)->hold());
}

// What a process leaves behind that dies while it publishes a commit: the two copies of the header
// of the WAL's index differ, and whoever comes next has to build the index anew.
void spoil_wal_index(sqlite3* handle) {
    sqlite3_file* file = nullptr;
    ASSERT_EQ(
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)),
        SQLITE_OK);
    void volatile* page = nullptr;
    ASSERT_EQ(file->pMethods->xShmMap(file, 0, 32 * 1024, 0, &page), SQLITE_OK);
    constexpr std::size_t header_bytes = 48;
    std::fill_n(static_cast<char volatile*>(page), header_bytes, '\xff');
}

// On the disk of the power tests, whose sleeps take no time: SQLite tries for ten seconds.
class wal_guard_of_a_store : public testing::Test {
protected:
    wal_guard_of_a_store() {
        auto opened =
            sqlite::open({.path = "orders.db", .service = "orders", .vfs = disk_.vfs_name()},
                         {.time = time_, .writer = writer_, .log = log_});
        EXPECT_TRUE(opened) << opened.error().what();
        store_ = *std::move(opened);
        EXPECT_TRUE(commit());
        other_ = open_another();
    }
    ~wal_guard_of_a_store() override {
        sqlite3_close(other_);
        store_->stop();
    }

    sqlite3* open_another() {
        sqlite3* opened = nullptr;
        EXPECT_EQ(sqlite3_open_v2("orders.db", &opened, SQLITE_OPEN_READWRITE, disk_.vfs_name()),
                  SQLITE_OK);
        EXPECT_EQ(run(opened, "SELECT * FROM posthorn_meta"), SQLITE_OK);
        return opened;
    }
    static int run(sqlite3* on, const char* sql) {
        return sqlite3_exec(on, sql, nullptr, nullptr, nullptr);
    }
    static int checkpoint(sqlite3* on) {
        return sqlite3_wal_checkpoint_v2(on, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    }
    result<> commit() {
        result<> answer;
        store_->barrier([&](result<> outcome) { answer = std::move(outcome); });
        return answer;
    }

    fault_disk disk_{1};
    real_clock time_;
    inline_executor writer_;
    logger log_ = logger::null();
    std::unique_ptr<store> store_;
    sqlite3* other_ = nullptr;
};

TEST_F(wal_guard_of_a_store, lets_go_when_the_wal_index_has_to_be_recovered) {
    spoil_wal_index(other_);
    // Nobody can recover while the guard holds the checkpoint's lock.
    EXPECT_EQ(run(other_, "SELECT * FROM posthorn_meta"), SQLITE_PROTOCOL);
    const auto recovered = commit();
    EXPECT_TRUE(recovered) << recovered.error().what();
    EXPECT_EQ(run(other_, "SELECT * FROM posthorn_meta"), SQLITE_OK);
    EXPECT_EQ(checkpoint(other_), SQLITE_BUSY);  // It holds again.
}

TEST_F(wal_guard_of_a_store, holds_while_another_keeps_the_database_for_longer_than_it_waits) {
    sqlite3* const third = open_another();
    ASSERT_EQ(run(other_, "BEGIN IMMEDIATE"), SQLITE_OK);
    int tries = 0;
    disk_.on_sleep([&](int) {
        ++tries;
        EXPECT_EQ(checkpoint(third), SQLITE_BUSY);
    });
    const auto refused = commit();
    disk_.on_sleep(nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_busy);
    EXPECT_GT(tries, 100);
    EXPECT_EQ(run(other_, "COMMIT"), SQLITE_OK);
    EXPECT_TRUE(commit());
    sqlite3_close(third);
}

}  // namespace
}  // namespace posthorn::sqlite
