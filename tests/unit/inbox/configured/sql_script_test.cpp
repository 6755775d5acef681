#include "inbox/configured/sql_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using script = std::vector<sql_statement>;

script parsed(std::string_view text) {
    auto read = parse_sql_script(text);
    EXPECT_TRUE(read.has_value()) << read.error().what();
    return read.value_or(script{});
}

TEST(sql_script, makes_names_positions) {
    EXPECT_EQ(parsed("INSERT INTO t VALUES (:a, :b_2, :a)"),
              (script{{"INSERT INTO t VALUES (?1, ?2, ?1)", {"a", "b_2"}}}));
    EXPECT_EQ(parsed("SELECT :_payload"), (script{{"SELECT ?1", {"_payload"}}}));
}

TEST(sql_script, splits_at_semicolons_and_numbers_each_statement_anew) {
    EXPECT_EQ(parsed(" UPDATE t SET x=:x ;\n; DELETE FROM t WHERE y=:y; "),
              (script{{"UPDATE t SET x=?1", {"x"}}, {"DELETE FROM t WHERE y=?1", {"y"}}}));
}

TEST(sql_script, leaves_quotes_and_comments_alone) {
    EXPECT_EQ(parsed("SELECT ':a;', 'it''s :b', \"c;:d\", [e;:f], `g;:h`, :i"),
              (script{{"SELECT ':a;', 'it''s :b', \"c;:d\", [e;:f], `g;:h`, ?1", {"i"}}}));
    EXPECT_EQ(parsed("SELECT 1 -- :a; 'x\n, 2 /* ; :b ' */ + :c"),
              (script{{"SELECT 1 \n, 2   + ?1", {"c"}}}));
    EXPECT_EQ(parsed("SELECT a$b, 1-1"), (script{{"SELECT a$b, 1-1", {}}}));
}

TEST(sql_script, leaves_casts_to_the_database) {
    EXPECT_EQ(parsed("INSERT INTO t VALUES (:a::numeric, :b :: date, '1'::int)"),
              (script{{"INSERT INTO t VALUES (?1::numeric, ?2 :: date, '1'::int)", {"a", "b"}}}));
}

TEST(sql_script, refuses_what_cannot_be_meant) {
    const auto problem = [](std::string_view text) {
        const auto read = parse_sql_script(text);
        EXPECT_FALSE(read.has_value()) << text;
        return read ? "" : std::string(read.error().what());
    };
    using testing::HasSubstr;
    for (const auto text : {"", " ; ; ", "-- nothing", "/* nothing */"})
        EXPECT_THAT(problem(text), HasSubstr("no statement")) << text;
    for (const auto text :
         {"SELECT 'a", "SELECT \"a", "SELECT [a", "SELECT `a", "SELECT /* a", "SELECT /*/"})
        EXPECT_THAT(problem(text), HasSubstr("does not end")) << text;
    for (const auto text : {"SELECT ?", "SELECT ?1", "SELECT @a", "SELECT $a"})
        EXPECT_THAT(problem(text), HasSubstr("write :name")) << text;
    for (const auto text : {"SELECT :", "SELECT :1", "SELECT : a"})
        EXPECT_THAT(problem(text), HasSubstr("colon stands without")) << text;
}

}  // namespace
}  // namespace posthorn
