#include "store/postgres/tables/lease_sql.hpp"

#include "base/text/joined.hpp"
#include "store/claim_table.hpp"

namespace posthorn::postgres {
namespace {

// A node frozen in a transaction may have a lease locked; no other waits for that.
constexpr auto unlocked =
    joined("(SELECT name FROM {s}.posthorn_leases WHERE name = $1 FOR UPDATE SKIP LOCKED)");
constexpr auto take_lease = joined(R"sql(
    UPDATE {s}.posthorn_leases SET owner = $2, beat = 0,
        epoch = CASE WHEN name LIKE 'dispatcher/%' THEN nextval('{s}.dispatcher_epochs')
            WHEN epoch BETWEEN 0 AND 4611686018427387903 THEN epoch + 1 ELSE 1 END
    WHERE name = $1 AND owner IS NOT DISTINCT FROM $3::text
      AND ($3::text IS NULL OR (epoch = $4 AND beat = $5)) AND name IN )sql",
                                   unlocked, " RETURNING owner, epoch, beat");
// A seat is for one run of a node alone, and its epoch is never given again.
constexpr auto leave_seat = joined(R"sql(
    DELETE FROM {s}.posthorn_leases
    WHERE name = $1 AND owner = $2 AND epoch = $3 AND name IN )sql",
                                   unlocked);

}  // namespace

lease_sql::lease_sql(connection& database)
    : lease_changes(database,
                    {.find = "SELECT owner, epoch, beat FROM {s}.posthorn_leases WHERE name = $1",
                     .make = R"sql(
          INSERT INTO {s}.posthorn_leases (name, owner, epoch, beat)
          VALUES ($1, NULL, 0, 0)
          ON CONFLICT DO NOTHING)sql",
                     .take = take_lease,
                     .beat = R"sql(
          UPDATE {s}.posthorn_leases SET beat =
              CASE WHEN beat BETWEEN 0 AND 4611686018427387903 THEN beat + 1 ELSE 1 END
          WHERE name = $1 AND owner = $2 AND epoch = $3)sql",
                     .release = R"sql(
          UPDATE {s}.posthorn_leases SET owner = NULL
          WHERE name = $1 AND owner = $2 AND epoch = $3)sql"}),
      leave_(database, leave_seat),
      // The server ends by itself who is silent between two commands, and not in the middle of one.
      end_frozen_(database, R"sql(
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE usename = current_user AND datname = current_database()
              AND pid <> pg_backend_pid() AND application_name =
              current_setting('application_name') AND state = 'active'
              AND wait_event IN ('ClientRead', 'ClientWrite')
              AND state_change < clock_timestamp() -
              current_setting('idle_in_transaction_session_timeout')::interval
              AND pid IN (SELECT pid FROM pg_locks WHERE granted
              AND relation = to_regclass($leases${s}.posthorn_leases$leases$)
              AND mode IN ('RowShareLock', 'RowExclusiveLock'))
              AND EXISTS (SELECT 1 FROM {s}.posthorn_leases WHERE name = $1 AND owner = $2
              AND epoch = $3))sql") {}

result<bool> lease_sql::release(std::string_view name, std::string_view owner, std::int64_t epoch) {
    if (!name.starts_with(seat_prefix)) return lease_changes::release(name, owner, epoch);
    bool has_left = false;
    {
        POSTHORN_LET(left, leave_.run(name, owner, epoch));
        has_left = left.changed() > 0;
    }
    if (!has_left) POSTHORN_TRY(end_frozen_.run(name, owner, epoch));
    return has_left;
}

}  // namespace posthorn::postgres
