#include "store/sqlite/schema/mend_schema.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

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
    for (const auto& set : sets)
        for (const auto& step : set.steps)
            POSTHORN_TRY(model.execute(std::string(step.sql).c_str()));
    if (has_guards) POSTHORN_TRY(guard_numbers(model, sets));
    return objects_of(model);
}

struct lost_data {
    std::string what;
    std::string todo;
};

struct differences {
    std::vector<lost_data> lost;
    std::vector<object> dropped;
    std::vector<object> changed;
    std::vector<std::string> foreign;
};

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

std::vector<std::string> names_of(const std::vector<object>& objects) {
    std::vector<std::string> names;
    for (const auto& one : objects) names.push_back(one.name);
    return names;
}

schema_differences in_words(const differences& all) {
    schema_differences said{
        .dropped = names_of(all.dropped), .changed = names_of(all.changed), .foreign = all.foreign};
    for (const auto& one : all.lost) said.lost.push_back(one.what);
    return said;
}

// A person has to know that data are lost.
result<> require_data(const differences& all) {
    if (all.lost.empty()) return {};
    return fail(error_code::store_corrupt, "{}, which Posthorn needs, was dropped; {}",
                all.lost.front().what, all.lost.front().todo);
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

result<std::vector<migration_set>> taken_steps(connection& database,
                                               std::span<const migration_set> sets) {
    std::map<std::string, std::int64_t, std::less<>> newest;
    POSTHORN_TRY(
        visit_rows(database, "SELECT folder, max(number) FROM posthorn_migrations GROUP BY folder",
                   [&](const sql_row& row) { newest.emplace(row.text(0), row.integer(1)); }));
    std::vector<migration_set> taken;
    for (const auto& set : sets) {
        const auto found = newest.find(set.folder);
        const auto steps = found == newest.end() ? 0 : std::max<std::int64_t>(found->second, 0);
        taken.push_back({set.folder, set.steps.first(std::min(set.steps.size(),
                                                              static_cast<std::size_t>(steps)))});
    }
    return taken;
}

}  // namespace

result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets) {
    POSTHORN_LET(taken, taken_steps(database, sets));
    POSTHORN_LET(found, objects_of(database));
    // A file that no node has opened since there are any has none.
    const bool has_guards = std::ranges::any_of(
        found, [](const object& one) { return one.name.ends_with(number_guard_suffix); });
    POSTHORN_LET(wanted, wanted_objects(taken, has_guards));
    POSTHORN_LET(all, differences_of(database, wanted));
    return in_words(all);
}

result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets) {
    POSTHORN_LET(wanted, wanted_objects(sets));
    POSTHORN_LET(seen, differences_of(database, wanted));
    POSTHORN_TRY(require_data(seen));
    if (seen.dropped.empty() && seen.changed.empty()) return in_words(seen);
    POSTHORN_TRY(database.execute("BEGIN IMMEDIATE"));
    differences now;
    const auto make = [&]() -> result<> {  // Another node may have been quicker.
        POSTHORN_LET(again, differences_of(database, wanted));
        now = std::move(again);
        return make_all(database, wanted, now.changed);
    };
    if (auto made = make(); !made) {
        POSTHORN_TRY(database.execute("ROLLBACK"));
        return std::unexpected(std::move(made).error());
    }
    POSTHORN_TRY(database.execute("COMMIT"));
    return in_words(now);
}

}  // namespace posthorn::sqlite
