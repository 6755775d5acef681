#include "store/sqlite/schema/number_guards.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {
namespace {

struct numbered_table {
    std::string name;
    std::string number;
};

result<std::vector<numbered_table>> numbered_tables(connection& database) {
    statement find(database,
                   "SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS"
                   " c ON c.pk = 1 WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'"
                   " AND t.sql NOT LIKE '%seq_in_range%' ORDER BY t.name");
    POSTHORN_LET(rows, find.run());
    std::vector<numbered_table> all;
    POSTHORN_TRY(rows.each([&](const prepared& row) {
        all.push_back({std::string(row.text(0)), std::string(row.text(1))});
    }));
    return all;
}

// The table that says so itself did not always: in a file of before it is left as it was.
bool is_to_guard(const migration_set& set, const std::string& table) {
    const auto words = fmt::format("CREATE TABLE IF NOT EXISTS {} (", table);
    return std::ranges::any_of(set.steps, [&](const migration& step) {
        const auto begin = step.sql.find(words);
        if (begin == step.sql.npos) return false;
        const auto end = step.sql.find("CREATE ", begin + words.size());
        return !step.sql.substr(begin, end - begin).contains("seq_in_range");
    });
}

// What is not given is not compared: before the insert it is -1.
result<> guard_number(connection& database, const numbered_table& table) {
    for (const auto* const change : {"INSERT", "UPDATE"})
        POSTHORN_TRY(database.execute(
            fmt::format("CREATE TRIGGER IF NOT EXISTS {0}_number_on_{2} BEFORE {2} ON {0}"
                        " WHEN NEW.{1} > 4611686018427387903 BEGIN SELECT RAISE(ABORT,"
                        " '{0}: {1} is given by the table: leave it out'); END",
                        table.name, table.number, change)
                .c_str()));
    return {};
}

}  // namespace

// A program's own tables are its own affair.
result<> guard_numbers(connection& database, std::span<const migration_set> sets) {
    POSTHORN_LET(all, numbered_tables(database));
    for (const auto& table : all)
        if (std::ranges::any_of(sets,
                                [&](const auto& set) { return is_to_guard(set, table.name); }))
            POSTHORN_TRY(guard_number(database, table));
    return {};
}

}  // namespace posthorn::sqlite
