#include "store/sqlite/tables/lease_sql.hpp"

namespace posthorn::sqlite {

lease_sql::lease_sql(connection& database)
    : find_(database, "SELECT owner, epoch, beat FROM posthorn_leases WHERE name = ?"),
      make_(database, R"sql(
          INSERT OR IGNORE INTO posthorn_leases (name, owner, epoch, beat)
          VALUES (?, NULL, 0, 0))sql"),
      take_(database, R"sql(
          UPDATE posthorn_leases SET owner = ?2, epoch = epoch + 1, beat = 0
          WHERE name = ?1 AND owner IS ?3
            AND (?3 IS NULL OR (epoch = ?4 AND beat = ?5)))sql"),
      beat_(database, R"sql(
          UPDATE posthorn_leases SET beat = beat + 1
          WHERE name = ? AND owner = ? AND epoch = ?)sql"),
      release_(database, R"sql(
          UPDATE posthorn_leases SET owner = NULL
          WHERE name = ? AND owner = ? AND epoch = ?)sql") {}

result<std::optional<lease>> lease_sql::find(std::string_view name) {
    POSTHORN_LET(found, find_.run(name));
    if (found.empty() || found.front().is_null(0)) return std::nullopt;
    const auto& row = found.front();
    return lease{row.get<std::string>(0), row.integer(1), row.integer(2)};
}

result<std::optional<lease>> lease_sql::take(std::string_view name, std::string_view owner,
                                             const std::optional<lease>& seen) {
    POSTHORN_TRY(make_.run(name));
    POSTHORN_LET(taken, seen ? take_.run(name, owner, seen->owner, seen->epoch, seen->beat)
                             : take_.run(name, owner));
    if (taken.changed() == 0) return std::nullopt;
    return find(name);
}

result<bool> lease_sql::beat(std::string_view name, std::string_view owner, std::int64_t epoch) {
    POSTHORN_LET(beaten, beat_.run(name, owner, epoch));
    return beaten.changed() > 0;
}

result<bool> lease_sql::release(std::string_view name, std::string_view owner, std::int64_t epoch) {
    POSTHORN_LET(released, release_.run(name, owner, epoch));
    return released.changed() > 0;
}

}  // namespace posthorn::sqlite
