#include "store/postgres/schema/schema_text.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "store/postgres/schema/tables.hpp"

namespace posthorn::postgres {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_in(std::string_view sql) {
    std::vector<std::string> names;
    for (const auto& one : objects_in(sql)) names.push_back(one.kind + " " + one.name);
    return names;
}

TEST(objects_in, finds_what_is_made_beside_tables) {
    EXPECT_THAT(names_in("-- CREATE INDEX no ON t (a);\n"
                         "CREATE TABLE {s}.t (a text DEFAULT ';');\n"
                         "CREATE UNIQUE INDEX IF NOT EXISTS i ON {s}.t (a);\n"
                         "CREATE OR REPLACE FUNCTION {s}.f(a text) RETURNS text AS\n"
                         "$$ SELECT 'x'; CREATE VIEW no AS SELECT 1; $$;\n"
                         "CREATE CONSTRAINT TRIGGER c AFTER INSERT ON {s}.t EXECUTE f();"
                         "CREATE VIEW {s}.\"Upper\" AS SELECT ';' AS \"a;b\"; REVOKE ALL ON x;"),
                ElementsAre("INDEX i", "FUNCTION f", "TRIGGER c", "VIEW Upper"));
}

TEST(objects_in, gives_each_statement_in_whole) {
    const auto found = objects_in("CREATE INDEX i ON {s}.t (a); CREATE VIEW {s}.v AS SELECT 1");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].sql, "CREATE INDEX i ON {s}.t (a)");
    EXPECT_EQ(found[1].sql, "CREATE VIEW {s}.v AS SELECT 1");
}

TEST(tables_in, finds_tables_and_their_columns) {
    const std::vector<schema_table> wanted{{"t", {"a", "b", "Big"}}, {"t", {"c", "d"}}};
    EXPECT_EQ(tables_in("CREATE TABLE IF NOT EXISTS {s}.t (\n"
                        " a numeric(3, 2) DEFAULT '),',\n"
                        " -- a comment, with a comma\n"
                        " b bigint CHECK (b IN (1, 2)), \"Big\" text, PRIMARY KEY (a, b),\n"
                        " UNIQUE (b)) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 5);\n"
                        "CREATE INDEX i ON {s}.t (a);\n"
                        "ALTER TABLE {s}.t ADD COLUMN c text, ADD COLUMN IF NOT EXISTS d bigint,\n"
                        " ALTER COLUMN a SET DEFAULT 1;"),
              wanted);
}

TEST(tables_in, knows_all_of_the_store) {
    const auto found = tables_in(store_tables().steps.front().sql);
    const auto outbox = std::ranges::find(found, "outbox_messages", &schema_table::name);
    ASSERT_NE(outbox, found.end());
    EXPECT_EQ(outbox->columns.size(), 29U);
    EXPECT_EQ(outbox->columns.front(), "seq");
    EXPECT_EQ(outbox->columns.back(), "tx");
}

TEST(objects_in, knows_all_of_the_store) {
    std::multiset<std::string> kinds;
    std::string all;
    for (const auto& step : store_tables().steps) {
        for (const auto& one : objects_in(step.sql)) kinds.insert(one.kind);
        all += step.sql;
    }
    for (const std::string kind : {"INDEX", "TRIGGER", "VIEW", "FUNCTION"}) {
        std::size_t said = 0;
        for (auto at = all.find("\nCREATE "); at != std::string::npos;
             at = all.find("\nCREATE ", at + 1)) {
            const auto line = all.substr(at + 1, all.find('\n', at + 1) - at - 1);
            said += line.find(" " + kind + " ") != std::string::npos &&
                            line.find("CREATE TABLE") == std::string::npos
                        ? 1
                        : 0;
        }
        EXPECT_EQ(kinds.count(kind), said) << kind;
    }
}

}  // namespace
}  // namespace posthorn::postgres
