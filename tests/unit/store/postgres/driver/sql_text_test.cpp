#include "store/postgres/driver/sql_text.hpp"

#include <gtest/gtest.h>

namespace posthorn::postgres {
namespace {

TEST(postgres_sql_text, numbers_what_stands_for_values) {
    EXPECT_EQ(numbered("SELECT ?, ?"), "SELECT $1, $2");
    EXPECT_EQ(numbered("SELECT ?2, ?1, ?2"), "SELECT $2, $1, $2");
    EXPECT_EQ(numbered("SELECT 1"), "SELECT 1");
}

TEST(postgres_sql_text, passes_over_texts_names_and_comments) {
    for (const auto* sql :
         {"SELECT '?', 'it''s ?'", "SELECT \"?\"", "SELECT 1 -- ?\n", "SELECT /* ? /* ? */ ? */ 1",
          "SELECT $$ ? $$", "SELECT $a$ ? $b$ ? $a$", "SELECT E'\\' ?'"})
        EXPECT_EQ(numbered(sql), sql);
    EXPECT_EQ(numbered("SELECT '?', ? -- ?"), "SELECT '?', $1 -- ?");
}

TEST(postgres_sql_text, leaves_what_is_numbered_and_takes_two_marks_for_the_operator) {
    EXPECT_EQ(numbered("SELECT a ? 'k' FROM t WHERE id = $1"),
              "SELECT a ? 'k' FROM t WHERE id = $1");
    EXPECT_EQ(numbered("SELECT a ?? ? FROM t"), "SELECT a ? $1 FROM t");
}

TEST(postgres_sql_text, refuses_what_ends_the_transaction_or_changes_the_session) {
    for (const auto* sql :
         {"BEGIN", " commit", "/* c */ RoLLback", "-- c\nSAVEPOINT a", "(SET x = 1)", ";; END",
          "START TRANSACTION", "DISCARD ALL", "NOTIFY a"})
        EXPECT_EQ(require_allowed(sql).error().code(), error_code::statement_forbidden) << sql;
    for (const auto* sql :
         {"SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a", "INSERT INTO setting VALUES (1)",
          "CREATE TABLE endings(n int)", "LOCK TABLE t", "DO $$ BEGIN END $$"})
        EXPECT_TRUE(require_allowed(sql)) << sql;
    for (const auto* sql : {"", "  ", "-- nothing"})
        EXPECT_EQ(require_allowed(sql).error().code(), error_code::statement_failed) << sql;
}

}  // namespace
}  // namespace posthorn::postgres
