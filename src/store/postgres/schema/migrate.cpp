#include "store/postgres/schema/migrate.hpp"

#include <vector>

#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::string_view make_schema = "CREATE SCHEMA IF NOT EXISTS {s};\n";
constexpr std::string_view record_table =
    "CREATE TABLE IF NOT EXISTS {s}.posthorn_migrations (folder text NOT NULL, number bigint NOT "
    "NULL, applied_at bigint NOT NULL, PRIMARY KEY (folder, number));\n";

std::string record_of(std::string_view folder, int number, std::int64_t at_ms) {
    return fmt::format("INSERT INTO {{s}}.posthorn_migrations VALUES ({}, {}, {});\n",
                       text_literal(folder), number, at_ms);
}

struct plan {
    std::string sql;
    bool is_needed = false;
};

result<plan> make_plan(connection& database, std::span<const migration_set> sets, wall_time now) {
    POSTHORN_LET(done, newest_of(database));
    // Asked for only where it is missing: who may make tables in one may not make schemas.
    POSTHORN_LET(there, database.ask("SELECT to_regnamespace(" + text_literal(database.schema()) +
                                     ") IS NOT NULL"));
    plan made;
    if (there.front().integer(0) == 0) made.sql = make_schema;
    made.sql += record_table;
    for (const auto& set : sets) {
        const auto found = done.find(set.folder);
        const std::int64_t newest = found == done.end() ? 0 : found->second;
        POSTHORN_TRY(require_known(set, newest));
        for (const auto& step : set.steps) {
            if (step.number <= newest) continue;
            made.is_needed = true;
            made.sql += step.sql;
            made.sql += ";\n";
            made.sql += record_of(set.folder, step.number, now.time_since_epoch().count());
        }
    }
    return made;
}

}  // namespace

result<newest_steps> newest_of(connection& database) {
    newest_steps found;
    POSTHORN_LET(there, database.ask("SELECT to_regclass(" +
                                     text_literal(database.schema() + ".posthorn_migrations") +
                                     ") IS NOT NULL"));
    if (there.front().integer(0) == 0) return found;
    POSTHORN_LET(
        steps,
        database.ask("SELECT folder, max(number) FROM {s}.posthorn_migrations GROUP BY folder"));
    for (int i = 0; i < steps.size(); ++i) found.emplace(steps[i].text(0), steps[i].integer(1));
    return found;
}

result<> migrate(connection& database, std::span<const migration_set> sets, const clock& time) {
    POSTHORN_LET(first, make_plan(database, sets, time.wall()));
    if (!first.is_needed) return {};
    // Of several nodes that start at once, one does it; the others look again after it. The lock is
    // taken before the transaction begins: only then does the server forget what it saw before.
    const auto lock = fmt::format("hashtextextended({}, 1)",
                                  text_literal("posthorn migrations of " + database.schema()));
    POSTHORN_TRY(database.script(fmt::format("SELECT pg_advisory_lock({})", lock)));
    POSTHORN_TRY(database.script("BEGIN"));
    const auto run = [&]() -> result<> {
        POSTHORN_LET(now, make_plan(database, sets, time.wall()));
        return now.is_needed ? database.script(now.sql) : result<>{};
    };
    if (auto done = run(); !done) {
        const auto undone = database.script("ROLLBACK");
        static_cast<void>(undone);  // The session ends with the error anyway.
        return done;
    }
    POSTHORN_TRY(database.script("COMMIT"));
    return database.script(fmt::format("SELECT pg_advisory_unlock({})", lock));
}

std::string definitions(std::string_view schema, std::span<const migration_set> sets) {
    auto sql = std::string(make_schema) + std::string(record_table);
    for (const auto& set : sets)
        for (const auto& step : set.steps) {
            sql += step.sql;
            sql += ";\n";
            sql += record_of(set.folder, step.number, 0);
        }
    const auto name = quoted_identifier(schema);
    for (auto at = sql.find("{s}"); at != std::string::npos; at = sql.find("{s}", at))
        sql.replace(at, 3, name);
    return sql;
}

result<> claim_for(connection& database, std::string_view service) {
    if (service.empty()) return {};
    const std::string find = "SELECT value FROM {s}.posthorn_meta WHERE name = 'service'";
    auto owner = database.ask(find);
    if (!owner) return std::unexpected(std::move(owner).error());
    if (owner->empty()) {
        POSTHORN_TRY(database.script("INSERT INTO {s}.posthorn_meta VALUES ('service', " +
                                     text_literal(service) + ") ON CONFLICT DO NOTHING"));
        owner = database.ask(find);
        if (!owner) return std::unexpected(std::move(owner).error());
        if (owner->empty())
            return fail(error_code::store_unavailable,
                        "the name of the service cannot be recorded in posthorn_meta; remove what "
                        "deletes its rows, and start again");
    }
    if (owner->front().text(0) == service) return {};
    return fail(error_code::invalid_configuration,
                "the schema {} belongs to the service '{}', not to '{}'; give the name back, or "
                "give this service a schema of its own (store.schema). To rename the service on "
                "purpose, see the page of invalid_configuration",
                database.schema(), owner->front().text(0), service);
}

}  // namespace posthorn::postgres
