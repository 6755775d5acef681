#include "store/postgres/schema/mend_schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "store/postgres/driver/sql_text.hpp"
#include "store/postgres/schema/migrate.hpp"
#include "store/postgres/schema/schema_text.hpp"
#include "store/rules/known_steps.hpp"
#include "store/rules/schema_repairs.hpp"

namespace posthorn::postgres {
namespace {

/// What the server has, by kind and name.
struct present_object {
    std::string source;  // Of a function, unless it is one expression.
    bool is_working =
        true;           // False for a trigger that is switched off and an index that is not used.
    std::string table;  // Of a trigger.
};
using present_objects = std::map<std::pair<std::string, std::string>, present_object>;

result<present_objects> look_at_objects(connection& database) {
    const auto schema = "to_regnamespace(" + text_literal(database.schema()) + ")";
    POSTHORN_LET(
        found,
        database.ask(
            "SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' ELSE 'TABLE' END,"
            " relname::text, '', coalesce(indisvalid, true), '' FROM pg_class"
            " LEFT JOIN pg_index ON indexrelid = pg_class.oid WHERE relnamespace = " +
            schema +
            " UNION ALL SELECT 'FUNCTION', proname::text, prosrc, true, '' FROM pg_proc"
            " WHERE pronamespace = " +
            schema +
            " UNION ALL SELECT 'TRIGGER', tgname::text, '', tgenabled IN ('O', 'A'),"
            " tgrelid::regclass::text FROM pg_trigger JOIN pg_class"
            " ON pg_class.oid = tgrelid WHERE relnamespace = " +
            schema + " AND NOT tgisinternal"));
    present_objects there;
    for (int i = 0; i < found.size(); ++i)
        there.try_emplace({std::string(found[i].text(0)), std::string(found[i].text(1))},
                          present_object{.source = std::string(found[i].text(2)),
                                         .is_working = found[i].integer(3) != 0,
                                         .table = std::string(found[i].text(4))});
    return there;
}

// The server keeps a text to the byte, and an expression in a form of its own.
bool is_source_changed(const schema_object& wanted, const present_object& found,
                       std::string_view schema) {
    constexpr std::string_view quotes = "$$";
    const auto begin = wanted.sql.find(quotes);
    if (wanted.kind != "FUNCTION" || begin == std::string_view::npos) return false;
    const auto source = wanted.sql.substr(begin + quotes.size());
    return with_schema(source.substr(0, source.find(quotes)), schema) != found.source;
}

/// An object, and the statement that puts it right.
struct repair : schema_object {
    std::string repairing;
};

// An index is made after the other is gone, which no query uses.
std::string repairing(const schema_object& wanted, const present_object& found) {
    if (wanted.kind == "TRIGGER")
        return fmt::format("ALTER TABLE {} ENABLE TRIGGER {}", found.table,
                           quoted_identifier(wanted.name));
    if (wanted.kind == "INDEX")
        return fmt::format("DROP INDEX {{s}}.{}; {}", quoted_identifier(wanted.name), wanted.sql);
    constexpr std::string_view create = "CREATE ";
    auto sql = std::string(wanted.sql);
    if (!sql.starts_with("CREATE OR REPLACE ")) sql.insert(create.size(), "OR REPLACE ");
    return sql;
}

using differences = schema_repairs<repair>;

result<std::set<std::pair<std::string, std::string>>> columns_of(connection& database) {
    POSTHORN_LET(found,
                 database.ask("SELECT relname::text, attname::text FROM pg_class"
                              " LEFT JOIN pg_attribute ON attrelid = pg_class.oid"
                              " AND attnum > 0 AND NOT attisdropped"
                              " WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace(" +
                              text_literal(database.schema()) + ")"));
    std::set<std::pair<std::string, std::string>> there;
    for (int i = 0; i < found.size(); ++i) {
        there.emplace(std::string(found[i].text(0)), "");
        there.emplace(std::string(found[i].text(0)), std::string(found[i].text(1)));
    }
    return there;
}

void compare_tables(std::string_view sql,
                    const std::set<std::pair<std::string, std::string>>& there,
                    std::vector<lost_data>& lost) {
    constexpr const char* todo = "give it its name back if it was renamed, else restore a backup";
    for (const auto& one : tables_in(sql)) {
        if (!there.contains({one.name, ""})) {
            lost.push_back({"the table " + one.name, todo});
            continue;
        }
        for (const auto& column : one.columns)
            if (!there.contains({one.name, column}))
                lost.push_back(
                    {fmt::format("the column {} of the table {}", column, one.name), todo});
    }
}

// Rules and policies too: each can let a write vanish, or a row.
result<std::vector<std::string>> foreign_to(connection& database,
                                            std::span<const migration_set> sets) {
    std::set<std::pair<std::string, std::string>> ours;
    for (const auto& step : steps_in(sets)) {
        for (const auto& one : tables_in(step.sql)) ours.emplace("table", one.name);
        for (const auto& one : objects_in(step.sql))
            if (one.kind == "TRIGGER") ours.emplace("trigger", one.name);
    }
    const auto in_schema = " WHERE relnamespace = to_regnamespace(" +
                           text_literal(database.schema()) + ") AND relkind IN ('r', 'p')";
    POSTHORN_LET(
        found,
        database.ask("SELECT 'trigger', tgname::text, relname::text FROM pg_trigger"
                     " JOIN pg_class ON pg_class.oid = tgrelid" +
                     in_schema +
                     " AND NOT tgisinternal AND tgenabled <> 'D'"
                     " UNION ALL SELECT 'rule', rulename::text, relname::text FROM pg_rewrite"
                     " JOIN pg_class ON pg_class.oid = ev_class" +
                     in_schema +
                     " AND ev_enabled <> 'D'"
                     " UNION ALL SELECT 'policy', polname::text, relname::text FROM pg_policy"
                     " JOIN pg_class ON pg_class.oid = polrelid" +
                     in_schema + " AND relrowsecurity ORDER BY 3, 2"));
    std::vector<std::string> foreign;
    for (int i = 0; i < found.size(); ++i) {
        const std::string kind(found[i].text(0)), name(found[i].text(1)), table(found[i].text(2));
        if (ours.contains({"table", table}) && !ours.contains({kind, name}))
            foreign.push_back(fmt::format("the {} {} on {}", kind, name, table));
    }
    return foreign;
}

// As the last step has it that makes it, in the place of the first: others may build upon it.
std::vector<schema_object> newest_objects(std::span<const migration_set> sets) {
    std::vector<schema_object> all;
    for (const auto& step : steps_in(sets))
        for (auto& one : objects_in(step.sql)) {
            const auto before = std::ranges::find_if(all, [&](const schema_object& other) {
                return other.kind == one.kind && other.name == one.name;
            });
            if (before == all.end())
                all.push_back(std::move(one));
            else
                *before = std::move(one);
        }
    return all;
}

result<differences> differences_of(connection& database, std::span<const migration_set> sets) {
    POSTHORN_LET(objects, look_at_objects(database));
    POSTHORN_LET(columns, columns_of(database));
    differences all;
    for (const auto& step : steps_in(sets)) compare_tables(step.sql, columns, all.lost);
    for (const auto& one : newest_objects(sets)) {
        const auto found = objects.find({one.kind, one.name});
        if (found == objects.end()) {
            all.dropped.push_back({one, std::string(one.sql)});
            continue;
        }
        const auto& seen = found->second;
        if (!seen.is_working || is_source_changed(one, seen, database.schema()))
            all.changed.push_back({one, repairing(one, seen)});
    }
    POSTHORN_LET(foreign, foreign_to(database, sets));
    all.foreign = std::move(foreign);
    return all;
}

// A function that is made anew may be run by all; the steps take that back at their end.
std::string rights_taken_back(std::span<const migration_set> sets) {
    std::string all;
    for (const auto& step : steps_in(sets))
        for (const auto one : statements_in(step.sql))
            if (one.starts_with("REVOKE ")) all += std::string(one) + ";\n";
    return all;
}

result<> make_all(connection& database, std::span<const migration_set> sets,
                  const std::vector<repair>& repairs) {
    for (const auto& one : repairs)
        if (auto made = database.script(one.repairing); !made)
            return fail(made.error().code(),
                        "the {} {}, which Posthorn needs, was dropped from the schema {}, or "
                        "changed, and cannot be made again: {}; run this as the schema's owner, "
                        "with {} for {{s}}, then start again: {}",
                        one.kind, one.name, database.schema(), made.error().what(),
                        database.schema(), one.repairing);
    const bool has_function =
        std::ranges::any_of(repairs, [](const repair& one) { return one.kind == "FUNCTION"; });
    return has_function ? database.script(rights_taken_back(sets)) : result<>{};
}

}  // namespace

result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets) {
    POSTHORN_LET(newest, newest_of(database));
    POSTHORN_LET(all, differences_of(database, taken_of(sets, newest)));
    return all.in_words();
}

result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets) {
    // Of several nodes that start at once, one does it.
    const auto begin = fmt::format("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended({}, 2))",
                                   text_literal("posthorn migrations of " + database.schema()));
    return mend(
        "the schema " + database.schema(), begin, [&] { return differences_of(database, sets); },
        [&](const differences& now) -> result<> {
            POSTHORN_TRY(make_all(database, sets, now.dropped));
            return make_all(database, sets, now.changed);
        },
        [&](const std::string& sql) { return database.script(sql); });
}

}  // namespace posthorn::postgres
