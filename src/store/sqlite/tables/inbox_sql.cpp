#include "store/sqlite/tables/inbox_sql.hpp"

#include "store/rows/stored_time.hpp"

namespace posthorn::sqlite {
inbox_sql::inbox_sql(connection& database, const file_care& file)
    : inbox_changes(database),
      room_(file.room),
      // Plain, as the insert is.
      claim_(database, R"sql(
          INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,
              claim_owner, claim_until, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?))sql"),
      take_over_(database, R"sql(
          UPDATE inbox_messages SET claim_owner = ?3, claim_until = ?4
          WHERE source_service_id = ?1 AND message_id = ?2 AND processed_at IS NULL
            AND claim_until <= ?5)sql") {}

result<bool> inbox_sql::insert(const inbox_record& record) {
    POSTHORN_TRY(room_.require_room());
    return inbox_changes::insert(record);
}

result<bool> inbox_sql::claim(const inbox_claim& wanted, wall_time now) {
    POSTHORN_TRY(room_.require_room());
    POSTHORN_LET(made, driver::insert_new(claim_, wanted.key.source, wanted.key.id, wanted.endpoint,
                                          blob{wanted.hash}, wanted.owner, to_ms(wanted.until),
                                          to_ms(wanted.expires_at)));
    if (made) return true;
    POSTHORN_LET(taken, take_over_.run(wanted.key.source, wanted.key.id, wanted.owner,
                                       to_ms(wanted.until), to_ms(now)));
    return taken.changed() > 0;
}

}  // namespace posthorn::sqlite
