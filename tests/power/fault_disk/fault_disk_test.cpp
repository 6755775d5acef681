#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "power/fault_disk/plain_database.hpp"

namespace posthorn {
namespace {

constexpr const char* schema =
    "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;"
    "CREATE TABLE t(i INTEGER PRIMARY KEY, payload BLOB);"
    "CREATE TABLE counter(n INTEGER); INSERT INTO counter VALUES (0);";

std::string insert(int i, int bytes = 500) {
    return fmt::format("INSERT INTO t VALUES ({}, zeroblob({}))", i, bytes);
}

constexpr const char* count_rows = "SELECT count(*) FROM t";

using image = std::vector<std::pair<std::string, std::vector<std::byte>>>;

image everything_on(const fault_disk& disk) {
    image all;
    for (const auto& path : disk.paths()) all.emplace_back(path, disk.contents(path));
    return all;
}

image image_after_a_cut(std::uint64_t seed) {
    fault_disk::seed_sqlite(7);
    fault_disk disk(seed);
    {
        plain_database db(disk, "a.db");
        db.run(schema);
        db.run("PRAGMA synchronous = normal");
        for (int i = 0; i < 20; ++i) db.run(insert(i, 3000));
        disk.cut_now();
    }
    disk.restore_power();
    return everything_on(disk);
}

TEST(fault_disk, leaves_the_same_image_for_the_same_seed) {
    std::set<image> different;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto first = image_after_a_cut(seed);
        EXPECT_EQ(first, image_after_a_cut(seed)) << "seed " << seed;
        different.insert(first);
    }
    EXPECT_GT(different.size(), 4U);
}

TEST(fault_disk, stops_at_the_operation_it_was_told) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    ASSERT_EQ(db.run(schema), SQLITE_OK);
    const auto before = disk.operations();
    disk.cut_after_operations(3);
    EXPECT_EQ(db.run(insert(1, 20'000)), SQLITE_IOERR);
    EXPECT_FALSE(disk.powered());
    EXPECT_EQ(disk.operations(), before + 3);
}

// The sync is a commit's last operation; the disk may have done all of it, or nothing.
std::int64_t rows_after_a_struck_sync(fault_disk::unsynced fate) {
    fault_disk disk(1);
    {
        plain_database db(disk, "a.db");
        EXPECT_EQ(db.run(schema), SQLITE_OK);
        EXPECT_EQ(db.run(insert(1)), SQLITE_OK);
        const auto before = disk.operations();
        EXPECT_EQ(db.run(insert(2)), SQLITE_OK);
        disk.cut_after_operations(disk.operations() - before - 1);
        EXPECT_EQ(db.run(insert(3)), SQLITE_IOERR);
        EXPECT_EQ(sqlite3_extended_errcode(db.handle()), SQLITE_IOERR_FSYNC);
    }
    disk.restore_power(fate);
    return plain_database(disk, "a.db").number(count_rows);
}

TEST(fault_disk, leaves_a_commit_in_doubt_when_the_cut_strikes_its_sync) {
    EXPECT_EQ(rows_after_a_struck_sync(fault_disk::unsynced::dropped), 2);
    EXPECT_EQ(rows_after_a_struck_sync(fault_disk::unsynced::kept), 3);
}

TEST(fault_disk, keeps_handles_of_before_the_cut_dead) {
    fault_disk disk(1);
    plain_database old(disk, "a.db");
    ASSERT_EQ(old.run(schema), SQLITE_OK);
    ASSERT_EQ(old.run(insert(1)), SQLITE_OK);
    disk.cut_now();
    EXPECT_EQ(old.run(insert(2)), SQLITE_IOERR);
    EXPECT_EQ(plain_database(disk, "a.db").run(count_rows), SQLITE_IOERR);
    disk.restore_power();
    EXPECT_EQ(old.run(insert(2)), SQLITE_IOERR);
    plain_database fresh(disk, "a.db");
    EXPECT_EQ(fresh.run(insert(2)), SQLITE_OK);
    old.close();  // Must not disturb the locks of the living.
    EXPECT_EQ(fresh.number(count_rows), 2);
}

TEST(fault_disk, keeps_every_byte_when_only_the_processes_die) {
    fault_disk disk(1);
    plain_database old(disk, "a.db");
    ASSERT_EQ(old.run(schema), SQLITE_OK);
    ASSERT_EQ(old.run("PRAGMA synchronous = off"), SQLITE_OK);
    ASSERT_EQ(old.run(insert(1)), SQLITE_OK);
    ASSERT_EQ(old.run("BEGIN IMMEDIATE"), SQLITE_OK);
    disk.kill_processes();
    plain_database fresh(disk, "a.db");
    EXPECT_EQ(fresh.run(insert(2)), SQLITE_OK);  // The lock of the dead is gone.
    EXPECT_EQ(fresh.number(count_rows), 2);
    EXPECT_EQ(old.run("COMMIT"), SQLITE_OK);  // Empty, so it needs no disk.
    EXPECT_EQ(old.run(insert(3)), SQLITE_IOERR);
}

TEST(fault_disk, kills_at_the_operation_it_was_told_and_keeps_every_byte) {
    for (std::uint64_t operations = 0; operations < 12; ++operations) {
        fault_disk disk(1);
        plain_database old(disk, "a.db");
        ASSERT_EQ(old.run(schema), SQLITE_OK);
        ASSERT_EQ(old.run("PRAGMA synchronous = off"), SQLITE_OK);
        ASSERT_EQ(old.run(insert(1)), SQLITE_OK);
        const auto before = disk.operations();
        disk.kill_after_operations(operations);
        EXPECT_EQ(old.run(insert(2, 40'000)), SQLITE_IOERR);
        EXPECT_EQ(disk.operations(), before + operations);
        EXPECT_EQ(disk.kills(), 1U);
        EXPECT_TRUE(disk.powered());
        EXPECT_EQ(old.run(count_rows), SQLITE_IOERR);
        plain_database fresh(disk, "a.db");
        EXPECT_EQ(fresh.number(count_rows), 1);  // What was not synced is there as well.
        EXPECT_EQ(fresh.run(insert(3)), SQLITE_OK);
        EXPECT_EQ(fresh.text("PRAGMA integrity_check"), "ok");
    }
}

TEST(fault_disk, lets_one_process_die_and_the_others_live) {
    fault_disk disk(1);
    const auto user = disk.add_user();
    plain_database other(disk, "a.db");
    ASSERT_EQ(other.run(schema), SQLITE_OK);
    {
        plain_database one(user->vfs_name(), "a.db");
        ASSERT_EQ(one.run("BEGIN IMMEDIATE"), SQLITE_OK);
        ASSERT_EQ(one.run(insert(1)), SQLITE_OK);
        EXPECT_EQ(other.run(insert(2)), SQLITE_BUSY);
        user->kill();
        EXPECT_TRUE(user->is_dead());
        EXPECT_EQ(one.run("COMMIT"), SQLITE_IOERR);
        EXPECT_EQ(other.run(insert(2)), SQLITE_OK);  // The lock of the dead is gone.
        EXPECT_EQ(plain_database(user->vfs_name(), "a.db").run(count_rows), SQLITE_IOERR);
    }
    EXPECT_EQ(other.number(count_rows), 1);
    EXPECT_FALSE(disk.add_user()->is_dead());
    EXPECT_EQ(other.text("PRAGMA integrity_check"), "ok");
}

TEST(fault_disk, shows_in_a_clone_only_what_is_durable) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    ASSERT_EQ(db.run(schema), SQLITE_OK);
    ASSERT_EQ(db.run(insert(1)), SQLITE_OK);
    ASSERT_EQ(db.run("PRAGMA synchronous = normal"), SQLITE_OK);
    ASSERT_EQ(db.run(insert(2)), SQLITE_OK);
    const auto clone = disk.clone_durable();
    EXPECT_EQ(plain_database(*clone, "a.db").number(count_rows), 1);
    EXPECT_EQ(plain_database(*clone, "a.db").run(insert(9)), SQLITE_OK);
    EXPECT_EQ(db.number(count_rows), 2);
    EXPECT_EQ(disk.contents("a.db-wal"), disk.contents("/a.db-wal"));
    EXPECT_LT(disk.durable_contents("a.db-wal").size(), disk.contents("a.db-wal").size());
}

TEST(fault_disk, returns_full_past_its_capacity_and_works_again_with_more) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    ASSERT_EQ(db.run(schema), SQLITE_OK);
    const auto capacity = disk.bytes_used() + 20'000;
    disk.set_capacity(capacity);
    EXPECT_EQ(db.run(insert(1, 100'000)), SQLITE_FULL);
    EXPECT_LE(disk.bytes_used(), capacity);
    EXPECT_EQ(db.number(count_rows), 0);
    disk.set_capacity(fault_disk::unlimited);
    EXPECT_EQ(db.run(insert(1, 100'000)), SQLITE_OK);
    EXPECT_EQ(db.number(count_rows), 1);
    EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
}

TEST(fault_disk, surfaces_a_failed_sync_at_commit) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    ASSERT_EQ(db.run(schema), SQLITE_OK);
    ASSERT_EQ(db.run("BEGIN IMMEDIATE"), SQLITE_OK);
    ASSERT_EQ(db.run(insert(1)), SQLITE_OK);
    disk.fail_next_syncs();
    EXPECT_EQ(db.run("COMMIT"), SQLITE_IOERR);
    EXPECT_EQ(sqlite3_extended_errcode(db.handle()), SQLITE_IOERR_FSYNC);
}

TEST(fault_disk, tells_of_a_failed_sync_whoever_had_the_file_open) {
    fault_disk disk(1);
    plain_database one(disk, "a.db"), other(disk, "a.db");
    ASSERT_EQ(one.run(schema), SQLITE_OK);
    ASSERT_EQ(other.run(insert(1)), SQLITE_OK);
    disk.fail_next_syncs();
    EXPECT_EQ(one.run(insert(2)), SQLITE_IOERR);
    EXPECT_EQ(other.run(insert(3)), SQLITE_IOERR);
    EXPECT_EQ(sqlite3_extended_errcode(other.handle()), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(plain_database(disk, "a.db").run(insert(4)), SQLITE_OK);  // It knows of nothing.
}

TEST(fault_disk, shows_corruption_to_integrity_check) {
    fault_disk disk(1);
    plain_database(disk, "a.db").run(schema);  // Its close checkpoints.
    plain_database(disk, "a.db")
        .run(
            "INSERT INTO t SELECT value, hex(value) FROM "
            "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT "
            "value + 1 FROM n LIMIT 2000) SELECT value FROM n)");
    ASSERT_EQ(plain_database(disk, "a.db").text("PRAGMA integrity_check"), "ok");
    disk.corrupt("a.db", 4 * 4096, 64);
    EXPECT_NE(plain_database(disk, "a.db").text("PRAGMA integrity_check"), "ok");
    EXPECT_THROW(disk.corrupt("a.db", disk.contents("a.db").size(), 1), std::out_of_range);
    EXPECT_THROW(disk.corrupt("b.db", 0, 1), std::out_of_range);
}

TEST(fault_disk, carries_a_file_from_one_disk_to_another) {
    fault_disk from(1);
    plain_database(from, "a.db").run(std::string(schema) + insert(1));
    fault_disk to(2);
    to.put("b.db", from.contents("a.db"));
    to.cut_now();
    to.restore_power(fault_disk::unsynced::dropped);
    EXPECT_EQ(plain_database(to, "b.db").number(count_rows), 1);
}

TEST(fault_disk, tells_sqlite_a_time_that_only_sleeps_and_the_test_move) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    const auto now = [&] { return db.number("SELECT CAST(strftime('%s', 'now') AS INTEGER)"); };
    EXPECT_EQ(now(), 1'700'000'000);
    int slept = 0;
    disk.on_sleep([&](int microseconds) { slept += microseconds; });
    plain_database other(disk, "a.db");
    ASSERT_EQ(other.run("BEGIN EXCLUSIVE"), SQLITE_OK);
    sqlite3_busy_timeout(db.handle(), 5'000);
    EXPECT_EQ(db.run("BEGIN EXCLUSIVE"), SQLITE_BUSY);
    EXPECT_GE(slept, 4'900'000);
    EXPECT_GE(now(), 1'700'000'004);
    disk.set_clock([] { return 1'000'000'000'000; });
    EXPECT_EQ(now(), 1'000'000'000);
}

TEST(fault_disk, causes_no_sync_with_an_empty_commit) {
    fault_disk disk(1);
    plain_database db(disk, "a.db");
    ASSERT_EQ(db.run(schema), SQLITE_OK);
    const auto before = disk.syncs();
    ASSERT_EQ(db.run("BEGIN IMMEDIATE; COMMIT"), SQLITE_OK);
    EXPECT_EQ(disk.syncs(), before);
    ASSERT_EQ(db.run("BEGIN IMMEDIATE; UPDATE counter SET n = n + 1; COMMIT"), SQLITE_OK);
    EXPECT_EQ(disk.syncs().wal, before.wal + 1);
    EXPECT_EQ(disk.syncs().total(), before.total() + 1);
}

struct barrier_case {
    const char* their_synchronous;
    const char* our_commit;
};

// How many of 10 rows are left when somebody else's weaker commits are followed by ours, and a cut.
std::int64_t rows_after_a_barrier(std::uint64_t seed, barrier_case how) {
    fault_disk disk(seed);
    {
        plain_database ours(disk, "a.db");
        EXPECT_EQ(ours.run(schema), SQLITE_OK);
        plain_database theirs(disk, "a.db");
        theirs.run(fmt::format("PRAGMA synchronous = {}", how.their_synchronous));
        for (int i = 0; i < 10; ++i) EXPECT_EQ(theirs.run(insert(i, 3'000)), SQLITE_OK);
        EXPECT_EQ(ours.run(fmt::format("BEGIN IMMEDIATE; {}; COMMIT", how.our_commit)), SQLITE_OK);
        disk.cut_now();
    }
    disk.restore_power();
    plain_database after(disk, "a.db");
    EXPECT_EQ(after.text("PRAGMA integrity_check"), "ok");
    return after.number(count_rows);
}

TEST(fault_disk, saves_the_weaker_commits_of_others_with_one_full_commit) {
    for (const char* theirs : {"normal", "off"}) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            ASSERT_EQ(rows_after_a_barrier(seed, {theirs, "UPDATE counter SET n = n + 1"}), 10)
                << theirs << ", seed " << seed;
        }
    }
}

TEST(fault_disk, does_not_save_them_with_an_empty_commit) {
    std::int64_t left = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        left += rows_after_a_barrier(seed, {"normal", "SELECT 1"});
    }
    EXPECT_LT(left, 400);
}

}  // namespace
}  // namespace posthorn
