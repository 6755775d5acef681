#include "store/postgres/upkeep/server_facts.hpp"

#include <utility>

#include "store/postgres/commit/session.hpp"
#include "store/postgres/schema/rights.hpp"
#include "store/postgres/schema/tables.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::postgres {
namespace {

constexpr const char* facts_of_tables = R"sql(
    SELECT (SELECT max(number) FROM {s}.posthorn_migrations WHERE folder = 'store'),
        (SELECT value FROM {s}.posthorn_meta WHERE name = 'service'),
        (SELECT count(*) FROM {s}.outbox_closed WHERE status = 'Dead'),
        (SELECT count(*) FROM {s}.outbox_closed WHERE status = 'Expired'),
        (SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_due AS later
            WHERE later.order_key IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM {s}.posthorn_meta
                  WHERE name = 'order_policy' AND value = 'pass')
              AND EXISTS (SELECT 1 FROM {s}.outbox_closed AS earlier
                  WHERE earlier.destination = later.destination
                    AND earlier.order_key = later.order_key AND earlier.tenant = later.tenant
                    AND earlier.status IN ('Dead', 'Expired') AND earlier.seq < later.seq)
            LIMIT 100000) AS part),
        greatest(0::bigint,
            (SELECT at FROM {s}.changes ORDER BY change_seq DESC LIMIT 1),
            (SELECT created_at FROM {s}.outbox_messages ORDER BY seq DESC LIMIT 1)),
        current_setting('fsync') = 'on',
        pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on')sql";

std::optional<wall_time> read_newest(const row& found, std::size_t column) {
    if (found.integer(column) == 0) return std::nullopt;
    return from_ms(found.integer(column));
}

}  // namespace

result<server_facts> look_at_server(const connect_options& where, const clock& time) {
    POSTHORN_LET(opened, connect({.connect = where, .rules = {}, .writer = {}}, time));
    auto& database = *opened;
    POSTHORN_LET(there,
                 database.ask("SELECT to_regclass($name${s}.posthorn_meta$name$) IS NOT NULL"));
    if (there.front().integer(0) == 0)
        return fail(error_code::not_found, "the schema {} has no tables of Posthorn",
                    database.schema());
    POSTHORN_LET(found, database.ask(facts_of_tables));
    POSTHORN_LET(missing, missing_rights(database));
    const auto row = found.front();
    return server_facts{.service = std::string(row.text(1)),
                        .step = row.integer(0),
                        .step_known = store_tables().steps.back().number,
                        .dead = row.integer(2),
                        .expired = row.integer(3),
                        .blocked = row.integer(4),
                        .newest = read_newest(row, 5),
                        .is_synced = row.integer(6) != 0,
                        .is_read_only = row.integer(7) != 0,
                        .missing_rights = std::move(missing)};
}

}  // namespace posthorn::postgres
