#include "store/postgres/tables/lease_sql.hpp"

#include "store/claim_table.hpp"
#include "store/statements/postgres_parts.hpp"

namespace posthorn::postgres {
namespace {

// A seat is for one run of a node alone, and its epoch is never given again.
constexpr auto leave_seat = joined(R"sql(
    DELETE FROM {s}.posthorn_leases
    WHERE name = $1 AND owner = $2 AND epoch = $3 AND name IN )sql",
                                   unlocked_lease);

}  // namespace

lease_sql::lease_sql(connection& database)
    : lease_changes(database),
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
