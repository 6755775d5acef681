#include "store/postgres/upkeep/server_facts.hpp"

#include <utility>

#include "store/postgres/commit/session.hpp"
#include "store/postgres/schema/mend_schema.hpp"
#include "store/postgres/schema/rights.hpp"
#include "store/postgres/schema/tables.hpp"
#include "store/postgres/tables/inspection_sql.hpp"
#include "store/rules/beside_walk.hpp"

namespace posthorn::postgres {
namespace {

// A role without a right to look is told of that, and not of what it cannot see.
void look_at_messages(connection& database, server_facts& facts) {
    if (const auto last =
            database.ask("SELECT 4611686018427387903 - last_value FROM {s}.outbox_seq"))
        facts.numbers_left = last->front().integer(0);
    const auto piped = database.begin_pipeline();
    if (!piped) return;
    const auto seen_by_people = inspection_on(database);
    if (auto blocked = seen_by_people->blocked({})) facts.blocked = *std::move(blocked);
    if (const auto newest = seen_by_people->newest()) facts.newest = *newest;
    if (auto waiting = seen_by_people->backlog(facts.newest.value_or(wall_time{}), {}))
        facts.backlog = *std::move(waiting);
    const auto count = [&](beside_fault which) {
        return count_wrong<driver>(database, which, facts.newest.value_or(wall_time{})).value_or(0);
    };
    facts.beside = {.lost = count(beside_fault::lost), .odd = count(beside_fault::odd)};
}

// A role that may not read what steps were taken lacks rights, which it is told of.
schema_differences look_at_schema(connection& database, std::span<const table_set> above) {
    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : above) sets.push_back(each.postgres);
    return compare_schema(database, sets).value_or(schema_differences{});
}

}  // namespace

result<server_facts> look_at_server(const connect_options& where, std::span<const table_set> above,
                                    const clock& time) {
    POSTHORN_LET(opened, connect({.connect = where, .rules = {}, .writer = {}}, time));
    auto& database = *opened;
    POSTHORN_LET(there,
                 database.ask("SELECT to_regclass($name${s}.posthorn_meta$name$) IS NOT NULL"));
    if (there.front().integer(0) == 0)
        return fail(error_code::not_found, "the schema {} has no tables of Posthorn",
                    database.schema());
    auto schema = look_at_schema(database, above);
    if (!schema.lost.empty())
        return server_facts{.service = {}, .schema = std::move(schema), .missing_rights = {}};
    POSTHORN_LET(
        found,
        database.ask(
            "SELECT (SELECT max(number) FROM {s}.posthorn_migrations WHERE folder = 'store'),"
            " (SELECT value FROM {s}.posthorn_meta WHERE name = 'service'),"
            " (SELECT count(*) FROM {s}.outbox_closed WHERE status = 'Dead'),"
            " (SELECT count(*) FROM {s}.outbox_closed WHERE status = 'Expired'),"
            " current_setting('fsync') = 'on',"
            " pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'"));
    POSTHORN_LET(missing, missing_rights(database));
    const auto row = found.front();
    server_facts facts{.service = std::string(row.text(1)),
                       .step = row.integer(0),
                       .step_known = store_tables().steps.back().number,
                       .dead = row.integer(2),
                       .expired = row.integer(3),
                       .is_synced = row.integer(4) != 0,
                       .is_read_only = row.integer(5) != 0,
                       .schema = std::move(schema),
                       .missing_rights = std::move(missing)};
    look_at_messages(database, facts);
    return facts;
}

result<std::vector<std::int64_t>> ask_server(const connect_options& where, const std::string& sql,
                                             const clock& time) {
    POSTHORN_LET(opened, connect({.connect = where, .rules = {}, .writer = {}}, time));
    POSTHORN_LET(found, opened->ask(sql));
    std::vector<std::int64_t> numbers;
    const auto row = found.front();
    for (std::size_t i = 0; i < row.size(); ++i) numbers.push_back(row.integer(i));
    return numbers;
}

}  // namespace posthorn::postgres
