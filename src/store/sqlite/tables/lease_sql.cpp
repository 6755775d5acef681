#include "store/sqlite/tables/lease_sql.hpp"

namespace posthorn::sqlite {

lease_sql::lease_sql(connection& database)
    : lease_changes(database,
                    {.find = "SELECT owner, epoch, beat FROM posthorn_leases WHERE name = ?",
                     .make = R"sql(
          INSERT OR IGNORE INTO posthorn_leases (name, owner, epoch, beat)
          VALUES (?, NULL, 0, 0))sql",
                     .take = R"sql(
          UPDATE posthorn_leases SET owner = ?2, epoch = epoch + 1, beat = 0
          WHERE name = ?1 AND owner IS ?3
            AND (?3 IS NULL OR (epoch = ?4 AND beat = ?5))
          RETURNING owner, epoch, beat)sql",
                     .beat = R"sql(
          UPDATE posthorn_leases SET beat = beat + 1
          WHERE name = ? AND owner = ? AND epoch = ?)sql",
                     .release = R"sql(
          UPDATE posthorn_leases SET owner = NULL
          WHERE name = ? AND owner = ? AND epoch = ?)sql"}) {}

}  // namespace posthorn::sqlite
