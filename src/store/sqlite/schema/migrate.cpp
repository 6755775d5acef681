#include "store/sqlite/schema/migrate.hpp"

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"
#include "store/rules/known_steps.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/schema/number_guards.hpp"

namespace posthorn::sqlite {
namespace {

constexpr const char* record_table = R"sql(
    CREATE TABLE IF NOT EXISTS posthorn_migrations (
        folder TEXT NOT NULL,
        number INTEGER NOT NULL,
        applied_at INTEGER NOT NULL,
        PRIMARY KEY (folder, number)
    ) WITHOUT ROWID)sql";

result<int> newest(connection& database, std::string_view folder) {
    statement find(database,
                   "SELECT coalesce(max(number), 0) FROM posthorn_migrations WHERE folder = ?");
    POSTHORN_LET(found, find.run(folder));
    return found.front().get<int>(0);
}

result<> apply(connection& database, std::string_view folder, const migration& step,
               wall_time now) {
    POSTHORN_TRY(take_step(database, step));
    statement record(database, "INSERT INTO posthorn_migrations VALUES (?, ?, ?)");
    POSTHORN_TRY(record.run(folder, step.number, to_ms(now)));
    return {};
}

result<> bring_up_to_date(connection& database, const migration_set& set, wall_time now) {
    POSTHORN_LET(done, newest(database, set.folder));
    POSTHORN_TRY(require_known(set, done));
    for (const auto& step : set.steps)
        if (step.number > done) POSTHORN_TRY(apply(database, set.folder, step, now));
    return {};
}

result<> migrate_all(connection& database, std::span<const migration_set> sets, wall_time now) {
    POSTHORN_TRY(database.execute(record_table));
    for (const auto& set : sets) POSTHORN_TRY(bring_up_to_date(database, set, now));
    return guard_numbers(database, sets);
}

// A table of the application's is left to it, and the view is then not made either.
result<> drop_view(connection& database, std::string_view name) {
    statement find(database, "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = ?");
    POSTHORN_LET(found, find.run(name));
    if (found.front().get<std::int64_t>(0) == 0) return {};
    return database.execute(fmt::format("DROP VIEW \"{}\"", name).c_str());
}

}  // namespace

result<> take_step(connection& database, const migration& step) {
    for (const auto name : step.remade) POSTHORN_TRY(drop_view(database, name));
    return database.execute(std::string(step.sql).c_str());
}

result<> migrate(connection& database, std::span<const migration_set> sets, const clock& time) {
    POSTHORN_TRY(database.execute("BEGIN IMMEDIATE"));
    if (auto done = migrate_all(database, sets, time.wall()); !done) {
        POSTHORN_TRY(database.execute("ROLLBACK"));
        return done;
    }
    return database.execute("COMMIT");
}

}  // namespace posthorn::sqlite
