#include "store/sqlite/tables/lease_sql.hpp"

#include <sqlite3.h>

#include "store/sqlite/driver/prepare_all.hpp"

namespace posthorn::sqlite {

result<lease_sql> lease_sql::open(connection& database) {
    lease_sql table;
    POSTHORN_TRY(prepare_all(
        database,
        {{&table.find_, "SELECT owner, epoch, beat FROM posthorn_leases WHERE name = ?"},
         {&table.make_,
          "INSERT OR IGNORE INTO posthorn_leases (name, owner, epoch, beat) VALUES (?, NULL, 0, "
          "0)"},
         {&table.take_,
          "UPDATE posthorn_leases SET owner = ?2, epoch = epoch + 1, beat = 0"
          " WHERE name = ?1 AND owner IS ?3 AND (?3 IS NULL OR (epoch = ?4 AND beat = ?5))"},
         {&table.beat_,
          "UPDATE posthorn_leases SET beat = beat + 1 WHERE name = ? AND owner = ? AND epoch = ?"},
         {&table.release_,
          "UPDATE posthorn_leases SET owner = NULL WHERE name = ? AND owner = ? AND epoch = ?"}}));
    return table;
}

result<std::optional<lease>> lease_sql::find(std::string_view name) {
    const reset_at_end reset(find_);
    find_.bind(1, name);
    POSTHORN_LET(row, find_.step());
    if (!row || find_.is_null(0)) return std::nullopt;
    return lease{find_.get<std::string>(0), find_.integer(1), find_.integer(2)};
}

result<std::optional<lease>> lease_sql::take(std::string_view name, std::string_view owner,
                                             const std::optional<lease>& seen) {
    make_.bind(1, name);
    POSTHORN_TRY(make_.run());
    take_.bind(1, name);
    take_.bind(2, owner);
    if (seen) {
        take_.bind(3, std::string_view(seen->owner));
        take_.bind(4, seen->epoch);
        take_.bind(5, seen->beat);
    }
    POSTHORN_TRY(take_.run());
    if (sqlite3_changes(sqlite3_db_handle(take_.handle())) == 0) return std::nullopt;
    return find(name);
}

result<bool> lease_sql::beat(std::string_view name, std::string_view owner, std::int64_t epoch) {
    beat_.bind(1, name);
    beat_.bind(2, owner);
    beat_.bind(3, epoch);
    POSTHORN_TRY(beat_.run());
    return sqlite3_changes(sqlite3_db_handle(beat_.handle())) > 0;
}

result<bool> lease_sql::release(std::string_view name, std::string_view owner, std::int64_t epoch) {
    release_.bind(1, name);
    release_.bind(2, owner);
    release_.bind(3, epoch);
    POSTHORN_TRY(release_.run());
    return sqlite3_changes(sqlite3_db_handle(release_.handle())) > 0;
}

}  // namespace posthorn::sqlite
