#include "store/sqlite/schema/missing_objects.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace posthorn::sqlite {
namespace {

struct object {
    std::string name;
    std::string sql;
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

struct objects {
    std::vector<object> tables;
    std::vector<object> others;
};

// What the steps make is best told by an empty database that has taken them. A trigger may need a
// view.
result<objects> wanted_objects(std::span<const migration_set> sets) {
    POSTHORN_LET(model, connection::open_empty());
    for (const auto& set : sets)
        for (const auto& step : set.steps)
            POSTHORN_TRY(model.execute(std::string(step.sql).c_str()));
    objects wanted;
    constexpr std::string_view all = R"sql(
        SELECT name, sql, type = 'table' FROM sqlite_master
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
        ORDER BY type = 'trigger', rowid)sql";
    POSTHORN_TRY(visit_rows(model, all, [&](const sql_row& row) {
        auto& kind = row.integer(2) != 0 ? wanted.tables : wanted.others;
        kind.push_back({.name = std::string(row.text(0)), .sql = std::string(row.text(1))});
    }));
    return wanted;
}

result<std::vector<object>> missing_among(connection& database, std::vector<object> wanted) {
    std::set<std::string, std::less<>> there;
    POSTHORN_TRY(visit_rows(database, "SELECT name FROM sqlite_master",
                            [&](const sql_row& row) { there.emplace(row.text(0)); }));
    std::erase_if(wanted, [&](const object& one) { return there.contains(one.name); });
    return wanted;
}

// What a table held is lost, which a person has to know.
result<> require_tables(connection& database, std::vector<object> wanted) {
    POSTHORN_LET(missing, missing_among(database, std::move(wanted)));
    if (missing.empty()) return {};
    return fail(error_code::store_corrupt,
                "the table {}, which Posthorn needs, was dropped; restore a backup, or, if what it "
                "held may be lost, run this and start again: {}",
                missing.front().name, missing.front().sql);
}

result<> make_all(connection& database, const std::vector<object>& missing) {
    for (const auto& one : missing)
        if (auto made = database.execute(one.sql.c_str()); !made)
            return fail(made.error().code(),
                        "{}, which Posthorn needs, was dropped and cannot be made again: {}; run "
                        "this yourself, then start again: {}",
                        one.name, made.error().what(), one.sql);
    return {};
}

}  // namespace

result<std::vector<std::string>> make_missing(connection& database,
                                              std::span<const migration_set> sets) {
    std::vector<std::string> names;
    POSTHORN_LET(model, wanted_objects(sets));
    POSTHORN_TRY(require_tables(database, std::move(model.tables)));
    auto& wanted = model.others;
    {
        POSTHORN_LET(missing, missing_among(database, wanted));
        if (missing.empty()) return names;
    }
    POSTHORN_TRY(database.execute("BEGIN IMMEDIATE"));
    const auto make = [&]() -> result<> {  // Another node may have been quicker.
        POSTHORN_LET(missing, missing_among(database, std::move(wanted)));
        for (const auto& one : missing) names.push_back(one.name);
        return make_all(database, missing);
    };
    if (auto made = make(); !made) {
        POSTHORN_TRY(database.execute("ROLLBACK"));
        return std::unexpected(std::move(made).error());
    }
    POSTHORN_TRY(database.execute("COMMIT"));
    return names;
}

}  // namespace posthorn::sqlite
