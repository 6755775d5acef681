#include "store/sqlite/driver/backup_files.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_directory.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

wall_time at(const std::string& text) { return parse_iso8601(text).value(); }

TEST(backup_names, tell_the_database_and_the_second) {
    const auto name = backup_name("data/orders.db", at("2026-02-14T12:34:56.789Z"));
    EXPECT_EQ(name, "orders-20260214T123456Z.db");
    EXPECT_EQ(parse_backup_name(name, "data/orders.db"), at("2026-02-14T12:34:56Z"));
}

TEST(backup_names, are_not_those_of_other_files) {
    for (const auto* name :
         {"orders.db", "orders-20260214T123456Z.db-wal", "orders-20260214T123456Z",
          "orders2-20260214T123456Z.db", "xorders-20260214T123456Z.db", ".orders.unfinished",
          "orders-20260231T123456Z.db", "orders-2026-02-14T12345.db", "orders.before-20260214.db"})
        EXPECT_EQ(parse_backup_name(name, "orders.db"), std::nullopt) << name;
}

TEST(backups, are_listed_oldest_first_without_what_else_is_there) {
    const test::temporary_directory folder;
    for (const auto* name : {"a-20260214T120000Z.db", "a-20260213T120000Z.db",
                             "b-20260213T120000Z.db", "notes.txt", ".a.unfinished"})
        std::ofstream(folder.file(name)) << "12345";
    const auto found = list_backups(folder.path(), "/data/a.db");
    ASSERT_TRUE(found);
    EXPECT_THAT(
        *found,
        ElementsAre(
            backup_file{folder.file("a-20260213T120000Z.db"), at("2026-02-13T12:00:00Z"), 5},
            backup_file{folder.file("a-20260214T120000Z.db"), at("2026-02-14T12:00:00Z"), 5}));
}

TEST(backups, are_none_in_a_folder_that_is_not_there) {
    EXPECT_TRUE(list_backups("/nonexistent/backups", "a.db").value().empty());
}

TEST(backups, are_outdated_past_their_time_but_for_the_newest) {
    const wall_time now = at("2026-02-14T12:00:00Z");
    const auto aged = [&](std::chrono::hours age) { return backup_file{"x", now - age, 0}; };
    struct row {
        const char* what;
        std::vector<backup_file> all;
        std::size_t outdated;
    };
    for (const auto& [what, all, outdated] :
         {row{"none", {}, 0}, row{"one, however old", {aged(1000h)}, 0},
          row{"young ones", {aged(167h), aged(1h)}, 0},
          row{"one that is as old as they may be", {aged(168h), aged(1h)}, 1},
          row{"old ones alone", {aged(300h), aged(200h), aged(169h)}, 2},
          row{"one from the future", {aged(200h), aged(-5h)}, 1}})
        EXPECT_EQ(outdated_backups(all, now, 7 * 24h).size(), outdated) << what;
}

TEST(backups, are_due_an_interval_after_the_newest) {
    const wall_time now = at("2026-02-14T12:00:00Z");
    EXPECT_EQ(backup_delay(std::nullopt, now, 1h), 0ms) << "none";
    EXPECT_EQ(backup_delay(now, now, 1h), 1h);
    EXPECT_EQ(backup_delay(now - 45min, now, 1h), 15min);
    EXPECT_EQ(backup_delay(now - 2h, now, 1h), 0ms) << "overdue";
    EXPECT_EQ(backup_delay(now + 100h, now, 1h), 1h) << "the clock was wrong";
}

TEST(a_new_file, gets_its_name_only_when_it_is_kept) {
    const test::temporary_directory folder;
    {
        const auto dropped = new_file::make(folder.path() / "t", "/nonexistent");
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    auto kept = new_file::make(folder.path() / "t", "/nonexistent");
    ASSERT_TRUE(kept);
    ASSERT_TRUE(kept->keep_as(folder.path() / "name", new_file::if_there::refuse));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "name"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t"));
}

TEST(a_new_file, takes_no_name_that_is_taken_unless_it_is_to) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("name")) << "old";
    auto made = new_file::make(folder.path() / "t", "/nonexistent");
    const auto refused = made->keep_as(folder.path() / "name", new_file::if_there::refuse);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
    EXPECT_EQ(std::filesystem::file_size(folder.file("name")), 3U);
    EXPECT_TRUE(made->keep_as(folder.path() / "name", new_file::if_there::replace));
    EXPECT_EQ(std::filesystem::file_size(folder.file("name")), 0U);
}

TEST(a_new_file, is_one_writers_at_a_time) {
    const test::temporary_directory folder;
    {
        const auto first = new_file::make(folder.path() / "t", "/nonexistent");
        const auto second = new_file::make(folder.path() / "t", "/nonexistent");
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code(), error_code::store_busy);
    }
    EXPECT_TRUE(new_file::make(folder.path() / "t", "/nonexistent"));
}

TEST(a_new_file, begins_empty_where_a_killed_process_left_one) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("t")) << "half";
    std::ofstream(folder.file("t-wal")) << "log";
    const auto made = new_file::make(folder.path() / "t", "/nonexistent");
    ASSERT_TRUE(made);
    EXPECT_EQ(std::filesystem::file_size(folder.file("t")), 0U);
    EXPECT_FALSE(std::filesystem::exists(folder.file("t-wal")));
}

TEST(a_new_file, has_the_mode_of_its_model) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("model")) << "x";
    for (const mode_t mode : {0600U, 0640U, 0644U}) {
        ASSERT_EQ(::chmod(folder.file("model").c_str(), mode), 0);
        const auto made = new_file::make(folder.path() / "t", folder.file("model"));
        struct stat seen{};
        ASSERT_EQ(::stat(made->path().c_str(), &seen), 0);
        EXPECT_EQ(seen.st_mode & 0777U, mode);
    }
}

}  // namespace
}  // namespace posthorn::sqlite
