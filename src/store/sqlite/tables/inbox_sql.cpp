#include "store/sqlite/tables/inbox_sql.hpp"

#include "store/rows/or_null.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::sqlite {
namespace {

// False where a constraint, or a condition of the statement, kept it from changing a row.
template <class... Args>
result<bool> changes_a_row(statement& change, const Args&... args) {
    auto done = change.run(args...);
    if (done) return done->changed() > 0;
    if (change.hit_a_unique_key()) return false;
    return std::unexpected(std::move(done).error());
}

}  // namespace

inbox_sql::inbox_sql(connection& database, const file_care& file)
    : inbox_changes(database),
      room_(file.room),
      // A plain INSERT: UPSERT has a bug with indexes in SQLite 3.40.
      insert_(database, R"sql(
          INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, response_payload, expires_at, response_checksum)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?))sql"),
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
    auto inserted =
        changes_a_row(insert_, record.key.source, record.key.id, record.endpoint, blob{record.hash},
                      to_ms(record.processed_at), or_null(record.response),
                      to_ms(record.expires_at), seal_of(record.response));
    if (inserted && *inserted) note_received(insert_.inserted());
    return inserted;
}

result<bool> inbox_sql::claim(const inbox_claim& wanted, wall_time now) {
    POSTHORN_TRY(room_.require_room());
    auto claimed =
        changes_a_row(claim_, wanted.key.source, wanted.key.id, wanted.endpoint, blob{wanted.hash},
                      wanted.owner, to_ms(wanted.until), to_ms(wanted.expires_at));
    if (!claimed || *claimed) return claimed;
    return changes_a_row(take_over_, wanted.key.source, wanted.key.id, wanted.owner,
                         to_ms(wanted.until), to_ms(now));
}

}  // namespace posthorn::sqlite
