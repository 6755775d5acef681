#include "store/sqlite/driver/statement.hpp"

#include <gtest/gtest.h>

#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

class a_statement : public on_a_file {
protected:
    a_statement() : database_(*connection::open({.path = path_, .create = true})) {
        EXPECT_TRUE(database_.execute("CREATE TABLE kept (k INTEGER PRIMARY KEY, v UNIQUE)"));
    }

    connection database_;
};

TEST_F(a_statement, is_prepared_when_it_is_first_run) {
    statement early(database_, "SELECT count(*) FROM later");
    EXPECT_FALSE(early.run());
    ASSERT_TRUE(database_.execute("CREATE TABLE later (x)"));
    EXPECT_EQ(early.run()->front().integer(0), 0);
}

TEST_F(a_statement, tells_how_many_rows_it_changed_and_which_it_inserted) {
    statement insert(database_, "INSERT INTO kept VALUES (?, ?)");
    EXPECT_EQ(insert.run(7, "seven")->changed(), 1);
    EXPECT_EQ(insert.inserted(), 7);
    statement remove(database_, "DELETE FROM kept WHERE k > ?");
    EXPECT_EQ(remove.run(7)->changed(), 0);
    EXPECT_EQ(remove.run(0)->changed(), 1);
}

TEST_F(a_statement, tells_a_unique_key_that_is_there_from_other_failures) {
    statement insert(database_, "INSERT INTO kept (v) VALUES (?)");
    ASSERT_TRUE(insert.run("once"));
    EXPECT_FALSE(insert.run("once"));
    EXPECT_TRUE(insert.hit_a_unique_key());
    EXPECT_TRUE(insert.run("twice"));
}

TEST_F(a_statement, stores_an_optional_without_a_value_as_null) {
    statement insert(database_, "INSERT INTO kept VALUES (?, ?)");
    ASSERT_TRUE(insert.run(1, std::optional<std::string_view>("text")));
    ASSERT_TRUE(insert.run(2, std::optional<std::string_view>()));  // Not what was bound before.
    EXPECT_EQ(*database_.integer("SELECT v IS NULL FROM kept WHERE k = 2"), 1);
}

TEST_F(a_statement, gives_row_after_row_and_holds_no_lock_after_the_last) {
    ASSERT_TRUE(database_.execute("INSERT INTO kept VALUES (1, 'a'), (2, 'b'), (3, 'c')"));
    statement all(database_, "SELECT v FROM kept ORDER BY k");
    std::string seen;
    auto found = all.run();
    ASSERT_TRUE(found->each([&](const sql_row& row) { seen += row.text(0); }));
    EXPECT_EQ(seen, "abc");
    EXPECT_TRUE(found->empty());
    EXPECT_TRUE(database_.execute("DROP TABLE kept")) << "the statement still reads";
}

TEST_F(a_statement, is_reset_when_its_rows_are_gone) {
    ASSERT_TRUE(database_.execute("INSERT INTO kept VALUES (1, 'a'), (2, 'b')"));
    statement all(database_, "SELECT v FROM kept ORDER BY k");
    for (int times = 0; times < 2; ++times) {
        auto found = all.run();
        EXPECT_EQ((*found->next())->text(0), "a");
    }
    EXPECT_TRUE(database_.execute("DROP TABLE kept")) << "the statement still reads";
}

}  // namespace
}  // namespace posthorn::sqlite
