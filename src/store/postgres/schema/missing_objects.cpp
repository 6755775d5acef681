#include "store/postgres/schema/missing_objects.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

// Where a statement ends: at a semicolon that is in no quotes and no comment. Our own text has
// quotes of three kinds, and comments to the end of a line.
std::size_t end_of_statement(std::string_view sql) {
    for (std::size_t at = 0; at < sql.size(); ++at) {
        const auto rest = sql.substr(at);
        std::string_view closed_by;
        if (rest.starts_with(';')) return at;
        if (rest.starts_with("--")) closed_by = "\n";
        if (rest.starts_with("$$")) closed_by = "$$";
        if (rest.starts_with('\'')) closed_by = "'";
        if (rest.starts_with('"')) closed_by = "\"";
        if (closed_by.empty()) continue;
        const auto close = sql.find(closed_by, at + closed_by.size());
        if (close == std::string_view::npos) return sql.size();
        at = close + closed_by.size() - 1;
    }
    return sql.size();
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

constexpr std::array<std::string_view, 4> kinds{"INDEX", "TRIGGER", "VIEW", "FUNCTION"};
constexpr std::array<std::string_view, 8> passed_over{"CREATE",     "OR", "REPLACE", "UNIQUE",
                                                      "CONSTRAINT", "IF", "NOT",     "EXISTS"};

result<std::set<std::pair<std::string, std::string>>> present_objects(connection& database) {
    const auto schema = "to_regnamespace(" + text_literal(database.schema()) + ")";
    POSTHORN_LET(
        found,
        database.ask("SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'i' THEN 'INDEX' ELSE 'TABLE'"
                     " END, relname::text FROM pg_class WHERE relnamespace = " +
                     schema +
                     " UNION ALL SELECT 'FUNCTION', proname::text FROM pg_proc"
                     " WHERE pronamespace = " +
                     schema +
                     " UNION ALL SELECT 'TRIGGER', tgname::text FROM pg_trigger JOIN pg_class"
                     " ON pg_class.oid = tgrelid WHERE relnamespace = " +
                     schema + " AND NOT tgisinternal"));
    std::set<std::pair<std::string, std::string>> there;
    for (int i = 0; i < found.size(); ++i)
        there.emplace(std::string(found[i].text(0)), std::string(found[i].text(1)));
    return there;
}

result<std::vector<schema_object>> missing_objects(connection& database,
                                                   std::span<const migration_set> sets) {
    POSTHORN_LET(there, present_objects(database));
    std::vector<schema_object> missing;
    for (const auto& set : sets)
        for (const auto& step : set.steps)
            for (auto& one : objects_in(step.sql))
                if (!there.contains({one.kind, one.name})) missing.push_back(std::move(one));
    return missing;
}

// A function that is made anew may be run by all; the steps take that back at their end.
std::string rights_taken_back(std::span<const migration_set> sets) {
    std::string all;
    for (const auto& set : sets)
        for (const auto& step : set.steps)
            for (auto rest = without_comments_before(step.sql); !rest.empty();) {
                const auto one = rest.substr(0, end_of_statement(rest));
                if (one.starts_with("REVOKE ")) all += std::string(one) + ";\n";
                rest = without_comments_before(rest.substr(one.size()));
            }
    return all;
}

result<> make_all(connection& database, std::span<const migration_set> sets,
                  const std::vector<schema_object>& missing) {
    for (const auto& one : missing)
        if (auto made = database.script(std::string(one.sql)); !made)
            return fail(made.error().code(),
                        "the {} {}, which Posthorn needs, was dropped from the schema {} and "
                        "cannot be made again: {}; run this as the schema's owner, with {} for "
                        "{{s}}, then start again: {}",
                        one.kind, one.name, database.schema(), made.error().what(),
                        database.schema(), one.sql);
    const bool has_function = std::ranges::any_of(
        missing, [](const schema_object& one) { return one.kind == "FUNCTION"; });
    return has_function ? database.script(rights_taken_back(sets)) : result<>{};
}

}  // namespace

std::vector<schema_object> objects_in(std::string_view sql) {
    std::vector<schema_object> objects;
    for (auto rest = without_comments_before(sql); !rest.empty();) {
        const auto one = rest.substr(0, end_of_statement(rest));
        rest = without_comments_before(rest.substr(one.size()));
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

result<std::vector<std::string>> make_missing(connection& database,
                                              std::span<const migration_set> sets) {
    std::vector<std::string> names;
    {
        POSTHORN_LET(missing, missing_objects(database, sets));
        if (missing.empty()) return names;
    }
    POSTHORN_TRY(database.script("BEGIN"));
    const auto make = [&]() -> result<> {
        // Of several nodes that start at once, one does it.
        POSTHORN_TRY(database.script(
            fmt::format("SELECT pg_advisory_xact_lock(hashtextextended({}, 2))",
                        text_literal("posthorn migrations of " + database.schema()))));
        POSTHORN_LET(missing, missing_objects(database, sets));
        for (const auto& one : missing) names.push_back(one.name);
        return make_all(database, sets, missing);
    };
    if (auto made = make(); !made) {
        const auto undone = database.script("ROLLBACK");
        static_cast<void>(undone);  // The session ends with the error anyway.
        return std::unexpected(std::move(made).error());
    }
    POSTHORN_TRY(database.script("COMMIT"));
    return names;
}

}  // namespace posthorn::postgres
