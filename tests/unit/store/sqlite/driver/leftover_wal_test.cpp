// The log that an earlier process left is on the disk before anything is copied from it.
#include "store/sqlite/driver/leftover_wal.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <sys/stat.h>

#include "support/fault_disk/fault_disk.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

class a_left_log : public on_a_file {
protected:
    /// As a killed process leaves it.
    void leave_rows(int count) {
        plain_handle killed(path_);
        sqlite3_db_config(killed.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(killed.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    }
    leftover_wal save() {
        auto database = connection::open({.path = path_}).value();
        sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        const auto found = save_left_log(database).value();
        // And nothing is in the way of this connection or another one.
        EXPECT_TRUE(database.execute("BEGIN IMMEDIATE; ROLLBACK"));
        return found;
    }
    [[nodiscard]] struct stat facts_of_log() const {
        struct stat found{};
        EXPECT_EQ(::stat(log_.c_str(), &found), 0);
        return found;
    }
    [[nodiscard]] std::string bytes_of_log() const {
        std::ifstream file(log_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string log_ = path_ + "-wal";
    std::string copy_ = log_ + "-saved";
};

TEST_F(a_left_log, becomes_a_new_file_with_the_same_bytes_and_rights) {
    leave_rows(3);
    ASSERT_EQ(::chmod(log_.c_str(), 0640), 0);
    const auto before = facts_of_log();
    const auto bytes = bytes_of_log();
    EXPECT_EQ(save(), leftover_wal::saved);
    EXPECT_NE(facts_of_log().st_ino, before.st_ino);
    EXPECT_EQ(facts_of_log().st_mode, before.st_mode);
    EXPECT_EQ(bytes_of_log(), bytes);
    EXPECT_FALSE(fs::exists(copy_));
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 3);
}

TEST_F(a_left_log, leaves_behind_what_an_earlier_round_wrote) {
    leave_rows(50);
    {
        plain_handle round(path_);
        sqlite3_db_config(round.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        ASSERT_EQ(round.checkpoint(SQLITE_CHECKPOINT_RESTART), SQLITE_OK);
        ASSERT_EQ(round.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    }
    const auto before = bytes_of_log();
    EXPECT_EQ(save(), leftover_wal::saved);
    const auto after = bytes_of_log();
    EXPECT_LT(after.size(), before.size() / 10);
    EXPECT_EQ(after, before.substr(0, after.size()));
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 51);
}

TEST_F(a_left_log, stays_as_it_is_while_another_has_the_database_open) {
    leave_rows(1);
    plain_handle other(path_);
    const auto before = facts_of_log();
    EXPECT_EQ(save(), leftover_wal::in_use);
    EXPECT_EQ(facts_of_log().st_ino, before.st_ino);
    EXPECT_EQ(other.run("INSERT INTO t VALUES (2)"), SQLITE_OK);
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 2);
}

TEST_F(a_left_log, is_not_mixed_up_with_its_copy_where_both_names_lead_to_one_file) {
    leave_rows(4);
    fs::create_hard_link(log_, copy_);
    EXPECT_EQ(save(), leftover_wal::saved);
    EXPECT_FALSE(fs::exists(copy_));
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 4);
}

TEST_F(a_left_log, with_nothing_in_it_is_left_alone) {
    for (const auto& nothing : {std::string("no log"), std::string(200'000, '\0')}) {
        std::ofstream(log_) << nothing;
        std::ofstream(copy_) << "of a start that did not get to its end";
        EXPECT_EQ(save(), leftover_wal::none);
        EXPECT_EQ(bytes_of_log(), nothing);
        EXPECT_FALSE(fs::exists(copy_));
        EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 0);
    }
}

TEST_F(a_left_log, stays_as_it_is_when_another_database_has_taken_the_place_of_its_own) {
    leave_rows(2);
    auto old = connection::open({.path = path_}).value();
    const auto before = facts_of_log();
    fs::rename(path_, path_ + ".old");
    fs::copy_file(path_ + ".old", path_);
    EXPECT_EQ(save_left_log(old).value(), leftover_wal::in_use);
    EXPECT_EQ(facts_of_log().st_ino, before.st_ino);
}

TEST_F(a_left_log, stays_as_it_is_where_no_file_can_be_made) {
    leave_rows(2);
    fs::create_directories(copy_ + "/in the way");
    const auto before = facts_of_log();
    EXPECT_EQ(save(), leftover_wal::kept);
    EXPECT_EQ(facts_of_log().st_ino, before.st_ino);
    EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM t"), 2);
}

class a_left_log_on_a_disk : public ::testing::Test {
protected:
    a_left_log_on_a_disk() {
        auto killed = open();
        EXPECT_TRUE(
            killed.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n);"
                           "INSERT INTO t VALUES (1)"));
    }
    connection open() {
        auto made =
            connection::open({.path = path, .vfs = disk_.vfs_name(), .create = true}).value();
        sqlite3_db_config(made.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        return made;
    }

    static constexpr const char* path = "orders.db";
    fault_disk disk_{1};
};

TEST_F(a_left_log_on_a_disk, is_saved_once_who_only_looked_is_gone) {
    std::optional<connection> looking(open());
    ASSERT_TRUE(looking->execute("BEGIN; SELECT count(*) FROM t"));
    disk_.on_sleep([&](int) { looking.reset(); });
    auto database = open();
    EXPECT_EQ(save_left_log(database).value(), leftover_wal::saved);
    EXPECT_FALSE(looking);
}

TEST_F(a_left_log_on_a_disk, stays_as_it_is_where_there_is_no_room_for_a_copy) {
    disk_.set_capacity(disk_.bytes_used() + 100);
    auto database = open();
    EXPECT_EQ(save_left_log(database).value(), leftover_wal::kept);
    EXPECT_FALSE(disk_.exists("orders.db-wal-saved"));
    EXPECT_EQ(database.integer("SELECT count(*) FROM t").value(), 1);
}

TEST_F(a_left_log_on_a_disk, that_cannot_sync_is_refused_and_changes_nothing) {
    const auto before = disk_.contents("orders.db-wal");
    disk_.fail_next_syncs(1);
    auto database = open();
    const auto refused = save_left_log(database);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::io_failed);
    EXPECT_EQ(disk_.contents("orders.db-wal"), before);
    EXPECT_FALSE(disk_.exists("orders.db-wal-saved"));
}

}  // namespace
}  // namespace posthorn::sqlite
