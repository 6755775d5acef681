#include "store/sqlite/schema/mend_schema.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

#include "store/rules/known_steps.hpp"
#include "store/rules/schema_repairs.hpp"
#include "store/sqlite/schema/migrate.hpp"
#include "store/sqlite/schema/number_guards.hpp"

namespace posthorn::sqlite {
namespace {

struct object {
    std::string type;
    std::string name;
    std::string table;  // That it belongs to.
    std::string sql;
    std::set<std::string, std::less<>> columns;  // Of a table.
};

template <class Visitor>
result<> visit_rows(connection& database, std::string_view sql, Visitor visit) {
    POSTHORN_LET(asked, database.prepare(sql));
    for (;;) {
        POSTHORN_LET(row, asked.step());
        if (!row) return {};
        visit(asked);
    }
}

// A trigger may need a view. One statement asks for all, so that all is of one moment.
result<std::vector<object>> objects_of(connection& database) {
    std::vector<object> found;
    constexpr std::string_view all = R"sql(
        SELECT type, name, tbl_name, sql, CASE type WHEN 'table' THEN
            (SELECT group_concat(name, char(10)) FROM pragma_table_xinfo(m.name)) END
        FROM sqlite_master AS m
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
        ORDER BY type = 'trigger', rowid)sql";
    POSTHORN_TRY(visit_rows(database, all, [&](const sql_row& row) {
        found.push_back({.type = std::string(row.text(0)),
                         .name = std::string(row.text(1)),
                         .table = std::string(row.text(2)),
                         .sql = std::string(row.text(3)),
                         .columns = {}});
        for (const auto name : std::views::split(row.text(4), '\n'))
            if (!name.empty()) found.back().columns.emplace(std::string_view(name));
    }));
    return found;
}

// What the steps make is best told by an empty database that has taken them.
result<std::vector<object>> wanted_objects(std::span<const migration_set> sets,
                                           bool has_guards = true) {
    POSTHORN_LET(model, connection::open_empty());
    for (const auto& step : steps_in(sets)) POSTHORN_TRY(take_step(model, step));
    if (has_guards) POSTHORN_TRY(guard_numbers(model, sets));
    return objects_of(model);
}

using differences = schema_repairs<object>;

void compare_table(const object& wanted, const object* found, std::vector<lost_data>& lost) {
    if (found == nullptr) {
        lost.push_back({"the table " + wanted.name,
                        "restore a backup, or, if what it held may be lost, run this and start "
                        "again: " +
                            wanted.sql});
        return;
    }
    for (const auto& column : wanted.columns)
        if (!found->columns.contains(column))
            lost.push_back({fmt::format("the column {} of the table {}", column, wanted.name),
                            "give it its name back if it was renamed, else restore a backup"});
}

// Of another type, or of another table, it is the application's.
bool is_changed(const object& wanted, const object& found) {
    return wanted.type == found.type && wanted.table == found.table && wanted.sql != found.sql;
}

// A file that was moved to a server has one more of ours.
std::vector<std::string> foreign_triggers(const std::vector<object>& wanted,
                                          const std::vector<object>& found) {
    std::set<std::string_view> tables, ours{"outbox_moved"};
    for (const auto& one : wanted) (one.type == "trigger" ? ours : tables).insert(one.name);
    std::vector<std::string> foreign;
    for (const auto& one : found)
        if (one.type == "trigger" && tables.contains(one.table) && !ours.contains(one.name))
            foreign.push_back(fmt::format("the trigger {} on {}", one.name, one.table));
    return foreign;
}

result<differences> differences_of(connection& database, const std::vector<object>& wanted) {
    POSTHORN_LET(found, objects_of(database));
    std::map<std::string_view, const object*> there;
    for (const auto& one : found) there.emplace(one.name, &one);
    differences all;
    for (const auto& one : wanted) {
        const auto at = there.find(one.name);
        const auto* const seen = at == there.end() ? nullptr : at->second;
        if (one.type == "table")
            compare_table(one, seen, all.lost);
        else if (seen == nullptr)
            all.dropped.push_back(one);
        else if (is_changed(one, *seen))
            all.changed.push_back(one);
    }
    all.foreign = foreign_triggers(wanted, found);
    return all;
}

result<> execute_for(connection& database, const object& one, const std::string& sql) {
    if (auto done = database.execute(sql.c_str()); !done)
        return fail(done.error().code(),
                    "{}, which Posthorn needs, was dropped or changed and cannot be made again: "
                    "{}; run this yourself, then start again: {}",
                    one.name, done.error().what(), one.sql);
    return {};
}

// Triggers go first, for a view takes its own along. What is to be made is looked up after that.
result<> make_all(connection& database, const std::vector<object>& wanted,
                  const std::vector<object>& changed) {
    for (const auto& one : std::views::reverse(changed))
        POSTHORN_TRY(execute_for(database, one, fmt::format("DROP {} \"{}\"", one.type, one.name)));
    POSTHORN_LET(now, differences_of(database, wanted));
    for (const auto& one : now.dropped) POSTHORN_TRY(execute_for(database, one, one.sql));
    return {};
}

result<newest_steps> newest_of(connection& database) {
    newest_steps newest;
    POSTHORN_TRY(
        visit_rows(database, "SELECT folder, max(number) FROM posthorn_migrations GROUP BY folder",
                   [&](const sql_row& row) { newest.emplace(row.text(0), row.integer(1)); }));
    return newest;
}

}  // namespace

result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets) {
    POSTHORN_LET(newest, newest_of(database));
    POSTHORN_LET(found, objects_of(database));
    // A file that no node has opened since there are any has none.
    const bool has_guards = std::ranges::any_of(
        found, [](const object& one) { return one.name.ends_with(number_guard_suffix); });
    POSTHORN_LET(wanted, wanted_objects(taken_of(sets, newest), has_guards));
    POSTHORN_LET(all, differences_of(database, wanted));
    return all.in_words();
}

result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets) {
    POSTHORN_LET(wanted, wanted_objects(sets));
    return mend(
        "", "BEGIN IMMEDIATE", [&] { return differences_of(database, wanted); },
        [&](const differences& now) { return make_all(database, wanted, now.changed); },
        [&](const std::string& sql) { return database.execute(sql.c_str()); });
}

}  // namespace posthorn::sqlite
