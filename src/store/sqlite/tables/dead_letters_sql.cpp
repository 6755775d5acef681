#include "store/sqlite/tables/dead_letters_sql.hpp"

#include <utility>

#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/sqlite/schema/sql_defaults.hpp"
#include "store/sqlite/tables/dead_columns.hpp"
#include "store/sqlite/tables/outbox_columns.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto keys_by_seq =
    joined("SELECT ", dead_key_columns, " FROM outbox_messages WHERE seq = ?");
constexpr auto renew = joined("UPDATE outbox_messages SET message_id = ", new_id, R"sql(,
    created_at = ?2, deliver_at = NULL, expires_at = ?2 +
        max(CASE ?3 WHEN 0 THEN expires_at - created_at ELSE ?3 END, 1000)
    WHERE seq = ?1)sql");

}  // namespace

dead_letters_sql::dead_letters_sql(connection& database, const message_limits& limits,
                                   const neighbours& others)
    : dead_letter_rows(database, limits, others,
                       {.by_id = dead_row_by_id,
                        .by_seq = dead_row_by_seq,
                        .keys = keys_by_seq,
                        .whole = outbox_row_by_seq,
                        .requeue = R"sql(
          UPDATE outbox_messages SET status = 'Pending', retry_count = 0, resolution = NULL,
              next_retry_at = coalesce(deliver_at, 0)
          WHERE seq = ?)sql",
                        .note = R"sql(
          INSERT INTO outbox_attempts (seq, attempt, at, error)
          VALUES (?1, coalesce((SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1,
              ?2, ?3))sql",
                        .old_id = R"sql(
          INSERT INTO outbox_attempts (seq, attempt, at, error)
          SELECT ?1, coalesce((SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1,
              ?2, 'requeued under a new id; until then it was ' || message_id
          FROM outbox_messages WHERE seq = ?1)sql",
                        .renew = renew,
                        .resolve = R"sql(
          UPDATE outbox_messages SET status = 'Resolved', resolution = ?2 WHERE seq = ?1)sql",
                        .reopen = R"sql(
          UPDATE outbox_messages SET status = 'Dead', resolution = NULL WHERE seq = ?)sql",
                        .remove = "DELETE FROM outbox_messages WHERE seq = ?",
                        .expire = R"sql(
          UPDATE outbox_messages SET status = 'Expired', last_error =
              'not delivered before it expired' || coalesce('; last: ' || last_error, '')
          WHERE seq = ?1 AND status = 'Dead' AND expires_at <= ?2)sql",
                        .ended = "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)",
                        .reseal = "UPDATE outbox_messages SET checksum = ?2 WHERE seq = ?1"}),
      edit_(database, R"sql(
          UPDATE outbox_messages SET destination = ?2, endpoint = ?3, payload = ?4,
              content_type = ?5, headers = ?6, max_retries = ?7
          WHERE seq = ?1)sql") {}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    return require_change(edit_.run(seq, body.destination, body.endpoint, body.payload,
                                    body.content_type, or_null(body.headers), body.max_retries));
}

}  // namespace posthorn::sqlite
