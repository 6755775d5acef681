#include "store/postgres/schema/mend_schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

// Where quotes or a comment that begin here end; here, if none does. Our own text has quotes of
// three kinds, and comments to the end of a line.
std::size_t past_quotes(std::string_view sql, std::size_t at) {
    const auto rest = sql.substr(at);
    std::string_view closed_by;
    if (rest.starts_with("--")) closed_by = "\n";
    if (rest.starts_with("$$")) closed_by = "$$";
    if (rest.starts_with('\'')) closed_by = "'";
    if (rest.starts_with('"')) closed_by = "\"";
    if (closed_by.empty()) return at;
    const auto close = sql.find(closed_by, at + closed_by.size());
    return close == std::string_view::npos ? sql.size() : close + closed_by.size() - 1;
}

std::size_t end_of_statement(std::string_view sql) {
    for (std::size_t at = 0; at < sql.size(); ++at) {
        if (sql[at] == ';') return at;
        at = past_quotes(sql, at);
    }
    return sql.size();
}

// What stands between the commas of a list, which ends with the text or with a bracket that was
// opened before it.
std::vector<std::string_view> parts_of(std::string_view list) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    std::size_t at = 0;
    for (; at < list.size() && depth >= 0; ++at) {
        const char one = list[at];
        if (one == '(') ++depth;
        if (one == ')' && --depth < 0) break;
        if (one == ',' && depth == 0) {
            parts.push_back(list.substr(begin, at - begin));
            begin = at + 1;
        }
        at = past_quotes(list, at);
    }
    parts.push_back(list.substr(begin, std::min(at, list.size()) - begin));
    return parts;
}

std::string_view without_comments_before(std::string_view sql) {
    for (;;) {
        const auto begin = sql.find_first_not_of(" \t\r\n;");
        if (begin == std::string_view::npos) return {};
        sql.remove_prefix(begin);
        if (!sql.starts_with("--")) return sql;
        const auto end = sql.find('\n');
        if (end == std::string_view::npos) return {};
        sql.remove_prefix(end);
    }
}

std::string_view next_word(std::string_view& sql) {
    sql.remove_prefix(std::min(sql.find_first_not_of(" \t\r\n"), sql.size()));
    const auto word = sql.substr(0, sql.find_first_of(" \t\r\n("));
    sql.remove_prefix(word.size());
    return word;
}

std::string plain_name(std::string_view word) {
    if (word.starts_with("{s}.")) word.remove_prefix(4);
    if (word.starts_with('"')) word = word.substr(1, word.size() - 2);
    return std::string(word);
}

std::vector<std::string_view> statements_in(std::string_view sql) {
    std::vector<std::string_view> all;
    for (auto rest = without_comments_before(sql); !rest.empty();) {
        all.push_back(rest.substr(0, end_of_statement(rest)));
        rest = without_comments_before(rest.substr(all.back().size()));
    }
    return all;
}

constexpr std::array<std::string_view, 4> kinds{"INDEX", "TRIGGER", "VIEW", "FUNCTION"};
constexpr std::array<std::string_view, 8> passed_over{"CREATE",     "OR", "REPLACE", "UNIQUE",
                                                      "CONSTRAINT", "IF", "NOT",     "EXISTS"};

constexpr std::array<std::string_view, 6> of_the_table{"PRIMARY", "UNIQUE",  "CONSTRAINT",
                                                       "CHECK",   "FOREIGN", "EXCLUDE"};

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
struct repair {
    schema_object what;
    std::string sql;
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

struct differences {
    std::vector<std::string> lost;
    std::vector<repair> dropped;
    std::vector<repair> changed;
    std::vector<std::string> foreign;
};

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
                    std::vector<std::string>& lost) {
    for (const auto& one : tables_in(sql)) {
        if (!there.contains({one.name, ""})) {
            lost.push_back("the table " + one.name);
            continue;
        }
        for (const auto& column : one.columns)
            if (!there.contains({one.name, column}))
                lost.push_back(fmt::format("the column {} of the table {}", column, one.name));
    }
}

// Rules and policies too: each can let a write vanish, or a row.
result<std::vector<std::string>> foreign_to(connection& database,
                                            std::span<const migration_set> sets) {
    std::set<std::pair<std::string, std::string>> ours;
    for (const auto& set : sets)
        for (const auto& step : set.steps) {
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
    for (const auto& set : sets)
        for (const auto& step : set.steps)
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
    for (const auto& set : sets)
        for (const auto& step : set.steps) compare_tables(step.sql, columns, all.lost);
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

std::vector<std::string> names_of(const std::vector<repair>& repairs) {
    std::vector<std::string> names;
    for (const auto& one : repairs) names.push_back(one.what.name);
    return names;
}

schema_differences in_words(const differences& all) {
    return {.lost = all.lost,
            .dropped = names_of(all.dropped),
            .changed = names_of(all.changed),
            .foreign = all.foreign};
}

result<> require_data(const connection& database, const differences& all) {
    if (all.lost.empty()) return {};
    return fail(error_code::store_corrupt,
                "{}, which Posthorn needs, was dropped from the schema {}; give it its name back "
                "if it was renamed, else restore a backup",
                all.lost.front(), database.schema());
}

// A function that is made anew may be run by all; the steps take that back at their end.
std::string rights_taken_back(std::span<const migration_set> sets) {
    std::string all;
    for (const auto& set : sets)
        for (const auto& step : set.steps)
            for (const auto one : statements_in(step.sql))
                if (one.starts_with("REVOKE ")) all += std::string(one) + ";\n";
    return all;
}

result<> make_all(connection& database, std::span<const migration_set> sets,
                  const std::vector<repair>& repairs) {
    for (const auto& one : repairs)
        if (auto made = database.script(one.sql); !made)
            return fail(made.error().code(),
                        "the {} {}, which Posthorn needs, was dropped from the schema {}, or "
                        "changed, and cannot be made again: {}; run this as the schema's owner, "
                        "with {} for {{s}}, then start again: {}",
                        one.what.kind, one.what.name, database.schema(), made.error().what(),
                        database.schema(), one.sql);
    const bool has_function =
        std::ranges::any_of(repairs, [](const repair& one) { return one.what.kind == "FUNCTION"; });
    return has_function ? database.script(rights_taken_back(sets)) : result<>{};
}

result<std::vector<migration_set>> taken_steps(connection& database,
                                               std::span<const migration_set> sets) {
    POSTHORN_LET(
        found,
        database.ask("SELECT folder, max(number) FROM {s}.posthorn_migrations GROUP BY folder"));
    std::vector<migration_set> taken;
    for (const auto& set : sets) {
        std::size_t steps = 0;
        for (int i = 0; i < found.size(); ++i)
            if (found[i].text(0) == set.folder && found[i].integer(1) > 0)
                steps = static_cast<std::size_t>(found[i].integer(1));
        taken.push_back({set.folder, set.steps.first(std::min(steps, set.steps.size()))});
    }
    return taken;
}

}  // namespace

std::vector<schema_object> objects_in(std::string_view sql) {
    std::vector<schema_object> objects;
    for (const auto one : statements_in(sql)) {
        if (!one.starts_with("CREATE ")) continue;
        auto words = one;
        std::string kind;
        for (auto word = next_word(words); !word.empty(); word = next_word(words)) {
            if (std::ranges::find(kinds, word) != kinds.end()) {
                kind = word;
                continue;
            }
            if (std::ranges::find(passed_over, word) != passed_over.end()) continue;
            if (!kind.empty()) objects.push_back({kind, plain_name(word), one});
            break;
        }
    }
    return objects;
}

std::vector<schema_table> tables_in(std::string_view sql) {
    std::vector<schema_table> tables;
    for (const auto one : statements_in(sql)) {
        auto words = one;
        const auto verb = next_word(words);
        if ((verb != "CREATE" && verb != "ALTER") || next_word(words) != "TABLE") continue;
        auto word = next_word(words);
        while (std::ranges::find(passed_over, word) != passed_over.end()) word = next_word(words);
        schema_table found{.name = plain_name(word), .columns = {}};
        if (verb == "CREATE") words.remove_prefix(std::min(words.find('(') + 1, words.size()));
        for (auto part : parts_of(words)) {
            part = without_comments_before(part);
            auto first = next_word(part);
            if (verb == "ALTER" && (first != "ADD" || next_word(part) != "COLUMN")) continue;
            if (verb == "ALTER") first = next_word(part);
            while (std::ranges::find(passed_over, first) != passed_over.end() && verb == "ALTER")
                first = next_word(part);
            if (first.empty() || std::ranges::find(of_the_table, first) != of_the_table.end())
                continue;
            found.columns.push_back(plain_name(first));
        }
        tables.push_back(std::move(found));
    }
    return tables;
}

result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets) {
    POSTHORN_LET(taken, taken_steps(database, sets));
    POSTHORN_LET(all, differences_of(database, taken));
    return in_words(all);
}

result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets) {
    differences now;
    {
        POSTHORN_LET(seen, differences_of(database, sets));
        POSTHORN_TRY(require_data(database, seen));
        if (seen.dropped.empty() && seen.changed.empty()) return in_words(seen);
    }
    POSTHORN_TRY(database.script("BEGIN"));
    const auto make = [&]() -> result<> {
        // Of several nodes that start at once, one does it.
        POSTHORN_TRY(database.script(
            fmt::format("SELECT pg_advisory_xact_lock(hashtextextended({}, 2))",
                        text_literal("posthorn migrations of " + database.schema()))));
        POSTHORN_LET(again, differences_of(database, sets));
        now = std::move(again);
        POSTHORN_TRY(make_all(database, sets, now.dropped));
        return make_all(database, sets, now.changed);
    };
    if (auto made = make(); !made) {
        const auto undone = database.script("ROLLBACK");
        static_cast<void>(undone);  // The session ends with the error anyway.
        return std::unexpected(std::move(made).error());
    }
    POSTHORN_TRY(database.script("COMMIT"));
    return in_words(now);
}

}  // namespace posthorn::postgres
