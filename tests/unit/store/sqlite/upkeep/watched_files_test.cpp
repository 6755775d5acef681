#include "store/sqlite/upkeep/watched_files.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A database that is open, whose files others get at.
class files_of_a_service : public a_service {
protected:
    files_of_a_service() { commit("INSERT INTO orders (note) VALUES ('x')"); }

    [[nodiscard]] std::string lost() {
        store_->upkeep()->look_at_files();
        return store_->upkeep()->lost_file();
    }
    void take_away(const std::string& suffix) {
        fs::rename(database_ + suffix, place_.file("away" + suffix));
    }
    void bring_back(const std::string& suffix) {
        fs::rename(place_.file("away" + suffix), database_ + suffix);
    }
};

TEST_F(files_of_a_service, are_its_own_while_others_use_them_too) {
    EXPECT_EQ(lost(), "");
    test::sqlite_file(database_).run("INSERT INTO orders (note) VALUES ('y')");
    commit("INSERT INTO orders (note) VALUES ('z')");
    ASSERT_TRUE(store_->upkeep()->compact());
    EXPECT_EQ(lost(), "");
}

TEST_F(files_of_a_service, are_missed_when_they_are_deleted) {
    for (const auto* const suffix : {"", "-wal", "-shm"}) {
        SCOPED_TRACE(suffix);
        take_away(suffix);
        EXPECT_THAT(lost(), AllOf(HasSubstr(database_ + suffix + " was deleted"),
                                  HasSubstr("stop the node")));
        bring_back(suffix);
        EXPECT_EQ(lost(), "");
    }
}

TEST_F(files_of_a_service, are_missed_when_others_stand_in_their_place) {
    for (const auto* const suffix : {"", "-wal", "-shm"}) {
        SCOPED_TRACE(suffix);
        take_away(suffix);
        fs::copy_file(place_.file(std::string("away") + suffix), database_ + suffix);
        EXPECT_THAT(lost(), HasSubstr(database_ + suffix + " was replaced"));
        fs::remove(database_ + suffix);
        bring_back(suffix);
        EXPECT_EQ(lost(), "");
    }
}

TEST_F(files_of_a_service, are_found_through_a_link_until_that_leads_elsewhere) {
    close_store();
    const auto real = std::exchange(database_, place_.file("link.db"));
    fs::create_symlink(real, database_);
    open_store();
    EXPECT_EQ(lost(), "");
    fs::copy_file(real, place_.file("other.db"));
    fs::remove(database_);
    fs::create_symlink(place_.file("other.db"), database_);
    EXPECT_THAT(lost(), HasSubstr(database_ + " was replaced"));
}

TEST_F(files_of_a_service, are_told_of_once_for_each_change) {
    std::vector<std::string> lines;
    logger log{{.level = log_level::info,
                .sink = [&](std::string_view line) { lines.emplace_back(line); }},
               [] { return wall_time{}; }};
    watched_files watched(database_, database_, log);
    watched.look();
    take_away("-shm");
    watched.look();
    watched.look();
    bring_back("-shm");
    watched.look();
    EXPECT_THAT(lines, ElementsAre(AllOf(HasSubstr("[ERR] Store: "), HasSubstr("was deleted")),
                                   HasSubstr("[INF] Store: the files of the database are those")));
}

}  // namespace
}  // namespace posthorn::sqlite
