#include "store/statements/dead_letter_rows_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_defaults.hpp"
#include "store/statements/sqlite_parts.hpp"

namespace posthorn {
namespace sqlite {
namespace {

constexpr auto keys_by_seq =
    joined("SELECT ", dead_key_columns, " FROM outbox_messages WHERE seq = ?");
constexpr auto renew = joined("UPDATE outbox_messages SET message_id = ", new_id, R"sql(,
    created_at = ?2, deliver_at = NULL, expires_at = ?2 +
        max(CASE ?3 WHEN 0 THEN expires_at - created_at ELSE ?3 END, 1000)
    WHERE seq = ?1)sql");
constexpr auto add_old_id = joined(R"sql(
    INSERT INTO outbox_attempts (seq, attempt, at, error)
    SELECT ?1, )sql",
                                   next_attempt, R"sql(, ?2,
        'requeued under a new id; until then it was ' || message_id
    FROM outbox_messages WHERE seq = ?1)sql",
                                   instead_of_attempt);

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

// Rows that are read to be changed are locked: another node may change them too.
constexpr auto row_by_id_to_change = joined("SELECT ", dead_row_columns, R"sql(
    FROM {s}.outbox_messages AS m WHERE message_id = $1 FOR UPDATE)sql");
constexpr auto row_by_seq =
    joined("SELECT ", dead_row_columns, " FROM {s}.outbox_messages AS m WHERE seq = $1");
constexpr auto keys_by_seq_to_change = joined("SELECT ", dead_key_columns, R"sql(
    FROM {s}.outbox_messages AS m WHERE m.seq = $1 FOR UPDATE)sql");
constexpr auto whole_by_seq =
    joined("SELECT ", outbox_columns, " FROM {s}.outbox_messages WHERE seq = $1");
constexpr auto add_old_id = joined(R"sql(
    INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
    SELECT $1::bigint, )sql",
                                   next_attempt, R"sql(, $2::bigint,
        'requeued under a new id; until then it was ' || message_id
    FROM {s}.outbox_messages WHERE seq = $1::bigint)sql",
                                   instead_of_attempt);

}  // namespace
}  // namespace postgres

constinit const dead_letter_rows_sql dead_letter_rows_texts{
    .by_id = {.sqlite = sqlite::dead_row_by_id, .postgres = postgres::row_by_id_to_change},
    .by_seq = {.sqlite = sqlite::dead_row_by_seq, .postgres = postgres::row_by_seq},
    .keys = {.sqlite = sqlite::keys_by_seq, .postgres = postgres::keys_by_seq_to_change},
    .whole = {.sqlite = sqlite::outbox_row_by_seq, .postgres = postgres::whole_by_seq},
    .requeue = both<R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Pending', retry_count = 0, resolution = NULL,
              next_retry_at = coalesce(deliver_at, 0)
          WHERE seq = ?1)sql">,
    .note = {.sqlite = sqlite::add_attempt, .postgres = postgres::add_attempt},
    .old_id = {.sqlite = sqlite::add_old_id, .postgres = postgres::add_old_id},
    .renew = {.sqlite = sqlite::renew, .postgres = R"sql(
          UPDATE {s}.outbox_messages
          SET message_id = {s}.new_id(), created_at = $2,
              expires_at = $2::bigint + greatest(
                  CASE $3::bigint WHEN 0 THEN expires_at - created_at ELSE $3 END, 1000),
              deliver_at = NULL
          WHERE seq = $1)sql"},
    .resolve = both<R"sql(
          UPDATE {s}.outbox_messages SET status = 'Resolved', resolution = ?2
          WHERE seq = ?1)sql">,
    .reopen = both<R"sql(
          UPDATE {s}.outbox_messages SET status = 'Dead', resolution = NULL WHERE seq = ?1)sql">,
    .remove = both<"DELETE FROM {s}.outbox_messages WHERE seq = ?1">,
    .expire = both<R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Expired', last_error = 'not delivered before it expired' ||
              coalesce('; last: ' || last_error, '')
          WHERE seq = ?1 AND status = 'Dead' AND expires_at <= ?2)sql">,
    .ended = {.sqlite = "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)",
              .postgres = "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING"},
    .reseal = both<"UPDATE {s}.outbox_messages SET checksum = ?2 WHERE seq = ?1">,
    .edit = {.sqlite = R"sql(
          UPDATE outbox_messages SET destination = ?2, endpoint = ?3, payload = ?4,
              content_type = ?5, headers = ?6, max_retries = ?7
          WHERE seq = ?1)sql",
             .postgres = R"sql(
          UPDATE {s}.outbox_messages
          SET destination = $2, endpoint = $3, payload = $4, payload_bytes = $5,
              content_type = $6, headers = $7, max_retries = $8
          WHERE seq = $1)sql"}};

}  // namespace posthorn
