#include "store/sqlite/tables/lease_sql.hpp"

namespace posthorn::sqlite {

lease_sql::lease_sql(connection& database)
    : lease_changes(database,
                    {.find = "SELECT owner, epoch, beat FROM posthorn_leases WHERE name = ?",
                     .make = R"sql(
          INSERT OR IGNORE INTO posthorn_leases (name, owner, epoch, beat)
          VALUES (?, NULL, 0, 0))sql",
                     // Compared as they are read: a program may have left any value there.
                     .take = R"sql(
          UPDATE posthorn_leases SET owner = ?2, beat = 0,
              epoch = CASE WHEN typeof(epoch) = 'integer' AND epoch BETWEEN 0 AND
                  4611686018427387903 THEN epoch + 1 ELSE 1 END
          WHERE name = ?1 AND CAST(owner AS TEXT) IS ?3
            AND (?3 IS NULL OR (CAST(epoch AS INTEGER) = ?4 AND CAST(beat AS INTEGER) = ?5))
          RETURNING owner, epoch, beat)sql",
                     .beat = R"sql(
          UPDATE posthorn_leases SET beat =
              CASE WHEN beat BETWEEN 0 AND 4611686018427387903 THEN beat + 1 ELSE 1 END
          WHERE name = ? AND owner = ? AND epoch = ?)sql",
                     .release = R"sql(
          UPDATE posthorn_leases SET owner = NULL
          WHERE name = ? AND owner = ? AND epoch = ?)sql"}) {}

}  // namespace posthorn::sqlite
