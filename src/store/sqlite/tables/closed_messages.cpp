#include "store/sqlite/tables/closed_messages.hpp"

namespace posthorn::sqlite {

closed_messages::closed_messages(connection& database)
    : closed_account(database, {.error_by_seq = R"sql(
          SELECT CASE WHEN length(destination) <= 800 THEN destination
                  ELSE substr(destination, 1, 200) END,
              CASE WHEN length(endpoint) <= 800 THEN endpoint ELSE substr(endpoint, 1, 200) END,
              substr(last_error, 1, 4096)
          FROM outbox_messages WHERE seq = ?)sql",
                                .find = R"sql(
          SELECT cause_id FROM outbox_causes
          WHERE destination = ? AND endpoint = ? AND cause = ?)sql",
                                .count = "SELECT count(*) FROM outbox_causes",
                                .drop_unused = "DELETE FROM outbox_causes WHERE dead <= 0",
                                .add = R"sql(
          INSERT INTO outbox_causes (destination, endpoint, cause, first_at, last_at)
          VALUES (?1, ?2, ?3, ?4, ?4) RETURNING cause_id)sql",
                                .ungrouped = R"sql(
          SELECT seq, at FROM outbox_closed INDEXED BY idx_outbox_closed_new
          WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?)sql"}),
      set_(database, "UPDATE outbox_closed SET at = ?2, cause_id = ?3 WHERE seq = ?1"),
      add_(database, R"sql(
          INSERT OR IGNORE INTO outbox_closed (seq, status, at, cause_id)
          VALUES (?1, ?4, ?2, ?3))sql") {}

result<> closed_messages::write(std::int64_t seq, outbox_status status, wall_time at,
                                std::optional<std::int64_t> cause_id) {
    POSTHORN_LET(set, set_.run(seq, to_ms(at), cause_id));
    if (set.changed() > 0) return {};
    // The trigger's row was taken away.
    POSTHORN_TRY(add_.run(seq, to_ms(at), cause_id, to_string(status)));
    return {};
}

}  // namespace posthorn::sqlite
