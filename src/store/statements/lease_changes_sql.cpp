#include "store/statements/lease_changes_sql.hpp"

#include "store/statements/postgres_parts.hpp"

namespace posthorn {
namespace postgres {
namespace {

constexpr auto take_lease = joined(R"sql(
    UPDATE {s}.posthorn_leases SET owner = $2, beat = 0,
        epoch = CASE WHEN name LIKE 'dispatcher/%' THEN nextval('{s}.dispatcher_epochs')
            WHEN epoch BETWEEN 0 AND 4611686018427387903 THEN epoch + 1 ELSE 1 END
    WHERE name = $1 AND owner IS NOT DISTINCT FROM $3::text
      AND ($3::text IS NULL OR (epoch = $4 AND beat = $5)) AND name IN )sql",
                                   unlocked_lease, " RETURNING owner, epoch, beat");

}  // namespace
}  // namespace postgres

constinit const lease_changes_sql lease_changes_texts{
    .find = both<"SELECT owner, epoch, beat FROM {s}.posthorn_leases WHERE name = ?1">,
    .make = {.sqlite = R"sql(
          INSERT OR IGNORE INTO posthorn_leases (name, owner, epoch, beat)
          VALUES (?, NULL, 0, 0))sql",
             .postgres = R"sql(
          INSERT INTO {s}.posthorn_leases (name, owner, epoch, beat)
          VALUES ($1, NULL, 0, 0)
          ON CONFLICT DO NOTHING)sql"},
    // On SQLite compared as they are read: a program may have left any value there.
    .take = {.sqlite = R"sql(
          UPDATE posthorn_leases SET owner = ?2, beat = 0,
              epoch = CASE WHEN typeof(epoch) = 'integer' AND epoch BETWEEN 0 AND
                  4611686018427387903 THEN epoch + 1 ELSE 1 END
          WHERE name = ?1 AND CAST(owner AS TEXT) IS ?3
            AND (?3 IS NULL OR (CAST(epoch AS INTEGER) = ?4 AND CAST(beat AS INTEGER) = ?5))
          RETURNING owner, epoch, beat)sql",
             .postgres = postgres::take_lease},
    .beat = both<R"sql(
          UPDATE {s}.posthorn_leases SET beat =
              CASE WHEN beat BETWEEN 0 AND 4611686018427387903 THEN beat + 1 ELSE 1 END
          WHERE name = ?1 AND owner = ?2 AND epoch = ?3)sql">,
    .release = both<R"sql(
          UPDATE {s}.posthorn_leases SET owner = NULL
          WHERE name = ?1 AND owner = ?2 AND epoch = ?3)sql">};

}  // namespace posthorn
