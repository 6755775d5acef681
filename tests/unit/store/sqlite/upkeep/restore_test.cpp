#include "store/sqlite/upkeep/restore.hpp"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "store/sqlite/driver/file_locks.hpp"
#include "store/sqlite/upkeep/backup.hpp"
#include "support/process.hpp"
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

using testing::HasSubstr;

/// Another process that has used a database and keeps it open.
class user_of_a_database {
public:
    explicit user_of_a_database(const std::string& database)
        : child_({POSTHORN_SQLITE_CHILD, "commit-on-signal", database}) {
        EXPECT_EQ(child_.read_line(), "ready");
        child_.send_signal(SIGUSR1);
        EXPECT_NE(child_.read_line(), std::nullopt) << child_.err();
    }
    [[nodiscard]] pid_t id() const { return child_.id(); }

private:
    test::process child_;
};

class a_restore : public a_service {
protected:
    // Ten orders in the backup, five more in the database, which nobody uses any more.
    a_restore() {
        place_orders(10);
        auto made = back_up_into(folder_, {.database = database_, .service = "orders"}, time_);
        EXPECT_TRUE(made);
        backup_ = made->file;
        place_orders(5);
    }
    [[nodiscard]] result<restore_report> restore_it() {
        close_store();
        return restore({.backup = backup_, .database = database_, .service = "orders"}, time_);
    }
    [[nodiscard]] static std::int64_t epoch_in(const std::string& file) {
        return test::sqlite_file(file).integer("SELECT epoch FROM posthorn_leases");
    }

    std::filesystem::path backup_;
};

TEST_F(a_restore, brings_back_the_backup_and_keeps_what_was_there) {
    const auto done = restore_it();
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(orders_in(database_), 10);
    EXPECT_EQ(orders_in(done->kept), 15);
    EXPECT_EQ(orders_in(backup_), 10);
    EXPECT_EQ(done->taken_at, time_.wall());
    EXPECT_FALSE(done->replaced_damaged);
    open_store();  // A node may go on.
    place_orders(1);
    EXPECT_EQ(orders_in(database_), 11);
}

TEST_F(a_restore, begins_an_epoch_that_nobody_had) {
    commit("INSERT INTO posthorn_leases VALUES ('dispatcher', 'somebody', 41, 7)");
    const auto done = restore_it();
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(done->epoch, 42);
    test::sqlite_file restored(database_);
    EXPECT_EQ(restored.integer("SELECT epoch FROM posthorn_leases WHERE owner IS NULL"), 42);
}

TEST_F(a_restore, in_place_of_a_database_that_is_lost_leaves_room_for_the_epochs_it_had) {
    close_store();
    std::filesystem::remove(database_);
    const auto done = restore_it();
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_TRUE(done->kept.empty());
    EXPECT_GE(done->epoch, 1'000'000);
    EXPECT_EQ(epoch_in(database_), done->epoch);
}

TEST_F(a_restore, counts_itself_and_says_what_it_came_from) {
    ASSERT_TRUE(restore_it());
    time_.advance(std::chrono::seconds{1});
    ASSERT_TRUE(restore_it());
    test::sqlite_file restored(database_);
    const auto meta = [&](const std::string& name) {
        return restored.integer("SELECT value FROM posthorn_meta WHERE name = '" + name + "'");
    };
    EXPECT_EQ(meta("restores"), 1);  // The backup knows of none.
    EXPECT_EQ(meta("restored_at"), time_.wall().time_since_epoch().count());
    EXPECT_EQ(meta("restored_from"), time_.wall().time_since_epoch().count() - 1000);
    EXPECT_EQ(meta("backup_taken_at"), 0) << "it is a backup no more";
}

TEST_F(a_restore, is_refused_while_another_process_has_the_database_open) {
    close_store();
    const user_of_a_database other(database_);
    ASSERT_TRUE(who_has_open(database_).has_value());
    const auto done = restore_it();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), error_code::store_busy);
    EXPECT_THAT(done.error().what(), HasSubstr(std::to_string(other.id())));
    EXPECT_EQ(orders_in(database_), 15);
}

TEST_F(a_restore, of_a_damaged_backup_touches_nothing) {
    {
        std::fstream bytes(backup_, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(8192);
        bytes << std::string(4096, '\x7f');
    }
    const auto done = restore_it();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), error_code::store_corrupt);
    EXPECT_EQ(orders_in(database_), 15);
    EXPECT_FALSE(std::filesystem::exists(database_ + ".restoring"));
}

TEST_F(a_restore, of_another_services_backup_is_refused) {
    close_store();
    const auto done =
        restore({.backup = backup_, .database = database_, .service = "billing"}, time_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), error_code::invalid_argument);
    EXPECT_EQ(orders_in(database_), 15);
}

TEST_F(a_restore, replaces_a_database_that_is_no_longer_one_and_keeps_its_bytes) {
    close_store();
    std::ofstream(database_) << "this was a database";
    std::ofstream(database_ + "-wal") << "and this its log";
    const auto done = restore_it();
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_TRUE(done->replaced_damaged);
    EXPECT_EQ(orders_in(database_), 10);
    EXPECT_EQ(std::filesystem::file_size(done->kept), 19U);
    EXPECT_EQ(std::filesystem::file_size(done->kept.string() + "-wal"), 16U);
}

// A log without its database would be played into the restored one.
TEST_F(a_restore, does_not_take_a_log_that_was_left_behind_for_its_own) {
    for (const auto* each : {"", "-wal"})
        std::filesystem::copy_file(database_ + each, place_.file("killed.db") + each);
    std::filesystem::remove(place_.file("killed.db"));
    const auto done = restore({.backup = backup_, .database = place_.file("killed.db")}, time_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(orders_in(place_.file("killed.db")), 10);
    EXPECT_EQ(test::sqlite_file(place_.file("killed.db")).text("PRAGMA integrity_check"), "ok");
}

TEST_F(a_restore, replaces_what_a_link_leads_to_and_leaves_the_link) {
    close_store();
    const auto link = place_.file("link.db");
    std::filesystem::create_symlink(database_, link);
    const auto done = restore({.backup = backup_, .database = link}, time_);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(orders_in(database_), 10);
    EXPECT_EQ(orders_in(done->kept), 15);
}

TEST_F(a_restore, keeps_the_mode_of_the_database) {
    ASSERT_EQ(::chmod(database_.c_str(), 0640), 0);
    ASSERT_EQ(::chmod(backup_.c_str(), 0600), 0);
    ASSERT_TRUE(restore_it());
    struct stat seen{};
    ASSERT_EQ(::stat(database_.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777U, 0640U);
}

TEST_F(a_restore, leaves_a_log_mode_that_is_safe_for_producers) {
    ASSERT_TRUE(restore_it());
    EXPECT_EQ(test::sqlite_file(database_).text("PRAGMA journal_mode"), "wal");
}

TEST(file_locks, tell_who_has_a_database_open) {
    const test::temporary_directory place;
    const auto file = place.file("a.db");
    test::sqlite_file(file, test::sqlite_file::make)
        .run(
            "PRAGMA journal_mode = WAL; CREATE TABLE outbox_messages(destination, endpoint, "
            "payload)");
    EXPECT_EQ(who_has_open(file), std::nullopt);
    EXPECT_EQ(who_has_open(place.file("missing.db")), std::nullopt);
    EXPECT_TRUE(sole_use::take(file));
    EXPECT_TRUE(sole_use::take(place.file("missing.db")));
    const user_of_a_database other(file);
    EXPECT_EQ(who_has_open(file), lock_holder{other.id()});
    EXPECT_EQ(who_holds_checkpoints(file), std::nullopt);
    EXPECT_FALSE(sole_use::take(file));
    EXPECT_THAT(describe_holder({other.id()}), HasSubstr("sqlite_child"));
}

}  // namespace
}  // namespace posthorn::sqlite
