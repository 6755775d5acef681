#include "store/sqlite/upkeep/backup.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "store/sqlite/driver/backup_files.hpp"
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

using testing::HasSubstr;

class a_backup : public a_service {
protected:
    [[nodiscard]] backup_options all_at_once() const {
        return {.database = database_, .service = "orders"};
    }
    [[nodiscard]] std::uintmax_t log_bytes() const {
        return std::filesystem::file_size(database_ + "-wal");
    }
    [[nodiscard]] std::size_t files_in_folder() const {
        const std::filesystem::directory_iterator all(folder_);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
};

TEST_F(a_backup, is_one_file_that_holds_all_that_was_committed) {
    place_orders(50);
    const auto made = back_up_into(folder_, all_at_once(), time_);
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_EQ(made->file, folder_ / backup_name(database_, time_.wall()));
    EXPECT_EQ(made->facts.service, "orders");
    EXPECT_EQ(made->facts.taken_at, time_.wall());
    EXPECT_EQ(files_in_folder(), 1U);
    EXPECT_EQ(orders_in(made->file), 50);
}

TEST_F(a_backup, is_closed_to_other_users_whatever_its_folder_and_the_database_are) {
    namespace fs = std::filesystem;
    const auto others = [](const fs::path& file) {
        return fs::status(file).permissions() & fs::perms::others_all;
    };
    EXPECT_EQ(others(database_), fs::perms::none) << "as Posthorn makes it";
    EXPECT_EQ(others(database_ + "-wal"), fs::perms::none);
    fs::permissions(database_, fs::perms{0644});
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms{0755});
    const auto made = back_up_into(folder_, all_at_once(), time_);
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_EQ(fs::status(made->file).permissions(), fs::perms{0640});
}

TEST_F(a_backup, is_one_snapshot_however_much_is_committed_meanwhile) {
    place_orders(300);
    auto slowly = all_at_once();
    slowly.step_pages = 10;
    std::atomic<bool> cancelled = false;  // One that begins anew at each commit never ends.
    slowly.cancelled = &cancelled;
    int rests = 0;
    slowly.rest = [&](std::chrono::nanoseconds) {
        cancelled = ++rests > 200;
        place_orders(5);
    };
    const auto made = back_up_into(folder_, slowly, time_);
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_GT(rests, 10);
    EXPECT_EQ(orders_in(made->file), 300);
    EXPECT_EQ(orders_in(database_), 300 + 5 * rests);
}

TEST_F(a_backup, does_not_checkpoint_its_source) {
    place_orders(50);
    const auto log_before = log_bytes();
    const auto file_before = std::filesystem::file_size(database_);
    ASSERT_TRUE(back_up_into(folder_, all_at_once(), time_));
    EXPECT_EQ(log_bytes(), log_before);
    EXPECT_EQ(std::filesystem::file_size(database_), file_before);
}

// As after kill -9: nobody has the file open, and the log is full.
TEST_F(a_backup, leaves_the_log_of_a_database_that_nobody_uses_as_it_is) {
    place_orders(50);
    for (const auto* each : {"", "-wal"})
        std::filesystem::copy_file(database_ + each, place_.file("killed.db") + each);
    const auto log = std::filesystem::file_size(place_.file("killed.db-wal"));
    const auto made = back_up_into(folder_, {.database = place_.file("killed.db")}, time_);
    ASSERT_TRUE(made) << made.error().what();
    EXPECT_EQ(std::filesystem::file_size(place_.file("killed.db-wal")), log);
    EXPECT_EQ(orders_in(made->file), 50);
}

TEST_F(a_backup, that_is_cancelled_leaves_nothing_behind) {
    place_orders(100);
    std::atomic<bool> cancelled = false;
    auto slowly = all_at_once();
    slowly.step_pages = 10;
    slowly.cancelled = &cancelled;
    slowly.rest = [&](std::chrono::nanoseconds) { cancelled = true; };
    const auto made = back_up_into(folder_, slowly, time_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::cancelled);
    EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(a_backup, tells_how_far_it_is) {
    place_orders(100);
    auto slowly = all_at_once();
    slowly.step_pages = 10;
    std::vector<std::int64_t> seen;
    std::int64_t pages = 0;
    slowly.progress = [&](std::int64_t done, std::int64_t all) {
        seen.push_back(done);
        pages = all;
    };
    ASSERT_TRUE(back_up_into(folder_, slowly, time_));
    EXPECT_GT(seen.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    EXPECT_EQ(seen.back(), pages);
}

TEST_F(a_backup, does_not_overwrite_a_file) {
    std::ofstream(place_.file("mine.db")) << "precious";
    const auto made = back_up_as(place_.file("mine.db"), all_at_once(), time_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::invalid_argument);
    EXPECT_EQ(std::filesystem::file_size(place_.file("mine.db")), 8U);
}

TEST_F(a_backup, of_a_file_without_our_tables_is_refused_and_leaves_nothing) {
    test::sqlite_file(place_.file("other.db"), test::sqlite_file::make).run("CREATE TABLE t(n)");
    const auto made = back_up_into(folder_, {.database = place_.file("other.db")}, time_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::invalid_argument);
    EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(a_backup, of_no_file_says_so) {
    const auto made = back_up_into(folder_, {.database = place_.file("missing.db")}, time_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::not_found);
}

TEST_F(a_backup, is_found_damaged_when_a_page_is) {
    place_orders(200);
    const auto made = back_up_into(folder_, all_at_once(), time_);
    ASSERT_TRUE(made);
    ASSERT_TRUE(verify_backup(made->file));
    {
        std::fstream bytes(made->file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(static_cast<std::streamoff>(made->facts.bytes / 2));
        bytes << std::string(4096, '\x7f');
    }
    const auto found = verify_backup(made->file);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), error_code::store_corrupt);
}

TEST_F(a_backup, is_verified_without_writing_anything) {
    const auto made = back_up_as(place_.file("b/a%b ?#.db"), all_at_once(), time_);
    ASSERT_TRUE(made) << made.error().what();
    const auto before = std::filesystem::last_write_time(made->file);
    const auto facts = verify_backup(made->file, "orders");
    ASSERT_TRUE(facts) << facts.error().what();
    EXPECT_EQ(*facts, made->facts);
    EXPECT_EQ(std::filesystem::last_write_time(made->file), before);
    const std::filesystem::directory_iterator all(place_.path() / "b");
    EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(a_backup, of_another_service_is_no_backup_of_this_one) {
    const auto made = back_up_into(folder_, all_at_once(), time_);
    ASSERT_TRUE(made);
    const auto found = verify_backup(made->file, "billing");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), error_code::invalid_argument);
    EXPECT_THAT(found.error().what(), HasSubstr("'orders'"));
}

TEST_F(a_backup, of_a_newer_posthorn_is_refused) {
    const auto made = back_up_into(folder_, all_at_once(), time_);
    ASSERT_TRUE(made);
    test::sqlite_file(made->file).run("INSERT INTO posthorn_migrations VALUES ('store', 999, 0)");
    const auto found = verify_backup(made->file);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), error_code::store_too_new);
}

TEST_F(a_backup, is_not_what_has_a_log_beside_it) {
    place_orders(1);
    const auto found = verify_backup(database_);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), error_code::invalid_argument);
    EXPECT_THAT(found.error().what(), HasSubstr("log beside it"));
}

}  // namespace
}  // namespace posthorn::sqlite
