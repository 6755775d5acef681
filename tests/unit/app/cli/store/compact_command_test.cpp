#include <filesystem>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/node.hpp>

#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::HasSubstr;

/// A database that another program made, with holes in it.
class compact_command : public testing::Test {
protected:
    void SetUp() override {
        test::sqlite_file made(path_, test::sqlite_file::make);
        made.run("PRAGMA journal_mode = WAL");
        made.run("CREATE TABLE mine (id INTEGER PRIMARY KEY, text TEXT)");
        made.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) "
            "INSERT INTO mine SELECT i, printf('%.1000c', 'x') FROM n");
        made.run("DELETE FROM mine WHERE id > 10");
    }
    [[nodiscard]] auto size() const { return std::filesystem::file_size(path_); }
    [[nodiscard]] std::int64_t number(const std::string& sql) const {
        return test::sqlite_file(path_).integer(sql);
    }

    test::temporary_directory folder_;
    std::string path_ = folder_.file("orders.db");
};

TEST_F(compact_command, makes_a_file_smaller_that_then_shrinks_by_itself) {
    ASSERT_EQ(number("PRAGMA auto_vacuum"), 0);
    const auto before = size();
    const auto done = run({"compact", "--database", path_});
    EXPECT_EQ(done.code, exit_code::ok) << done.err;
    EXPECT_THAT(done.out, HasSubstr("hold nothing"));
    EXPECT_LT(size(), before / 2);
    EXPECT_EQ(number("PRAGMA auto_vacuum"), 2);
    EXPECT_EQ(number("PRAGMA freelist_count"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM mine"), 10);
}

TEST_F(compact_command, tells_programs_what_it_did) {
    const auto done = run({"compact", "--database", path_, "--json"});
    ASSERT_EQ(done.code, exit_code::ok) << done.err;
    const auto told = boost::json::parse(done.out);
    EXPECT_GT(told.at("bytesFreeBefore").to_number<std::int64_t>(), 1'000'000);
    EXPECT_LT(told.at("bytesAfter").to_number<std::int64_t>(),
              told.at("bytesBefore").to_number<std::int64_t>() / 2);
}

TEST_F(compact_command, refuses_while_a_node_has_the_file) {
    node running(
        {.service = "orders", .store = {.database = path_}, .log_sink = [](std::string_view) {}});
    running.start();
    const auto refused = run({"compact", "--database", path_});
    EXPECT_EQ(refused.code, exit_code::failed);
    EXPECT_THAT(refused.err, HasSubstr("stop it first"));
    running.stop();
    EXPECT_EQ(number("PRAGMA auto_vacuum"), 0);
}

TEST_F(compact_command, says_that_there_is_no_such_file) {
    const auto refused = run({"compact", "--database", folder_.file("nothing.db")});
    EXPECT_EQ(refused.code, exit_code::failed);
    EXPECT_THAT(refused.err, HasSubstr("there is no database"));
}

}  // namespace
}  // namespace posthorn::cli
