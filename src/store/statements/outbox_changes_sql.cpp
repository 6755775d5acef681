#include "store/statements/outbox_changes_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_parts.hpp"

namespace posthorn {

constinit const outbox_changes_sql outbox_changes_texts{
    .retry = {.sqlite = R"sql(
          UPDATE outbox_messages SET retry_count = min(retry_count, 2147483647) + ?2,
              next_retry_at = ?3, last_attempt_at = ?4, last_error = coalesce(?5, last_error)
          WHERE seq = ?1 AND status = 'Pending')sql",
              .postgres = R"sql(
          UPDATE {s}.outbox_messages
          SET retry_count = least(retry_count, 2147483647) + $2::bigint, next_retry_at = $3,
              last_attempt_at = $4, last_error = coalesce($5, last_error)
          WHERE seq = $1 AND status = 'Pending')sql"},
    .close = {.sqlite = R"sql(
          UPDATE outbox_messages SET status = ?2, retry_count = min(retry_count, 2147483647) + ?3,
              last_attempt_at = CASE WHEN ?3 THEN ?4 ELSE last_attempt_at END,
              last_error = coalesce(?5 || CASE WHEN ?7 THEN '; last: ' || last_error END, ?5,
                  last_error),
              resolution = ?6
          WHERE seq = ?1 AND status = 'Pending')sql",
              .postgres = R"sql(
          UPDATE {s}.outbox_messages
          SET status = $2, retry_count = least(retry_count, 2147483647) + $3::bigint,
              last_attempt_at = CASE WHEN $3::bigint <> 0 THEN $4 ELSE last_attempt_at END,
              last_error = coalesce($5::text || CASE WHEN $7::bigint <> 0 THEN '; last: ' ||
              last_error END, $5::text, last_error), resolution = $6
          WHERE seq = $1 AND status = 'Pending')sql"},
    .pending = both<R"sql(
          SELECT 1 FROM {s}.outbox_messages WHERE seq = ?1 AND status = 'Pending')sql">,
    // Numbered over all rounds: a requeued message keeps its earlier attempts.
    .attempt = {.sqlite = sqlite::add_attempt, .postgres = postgres::add_attempt},
    .unanswered = {.sqlite = R"sql(
          INSERT OR IGNORE INTO outbox_attempts (seq, attempt, at, error)
          VALUES (?, 0, ?, ?))sql",
                   .postgres = R"sql(
          INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
          VALUES ($1, 0, $2, $3) ON CONFLICT DO NOTHING)sql"},
    .end = {.sqlite = "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)",
            .postgres = "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING"},
    .requeue = both<R"sql(
          UPDATE {s}.outbox_messages SET status = 'Pending', retry_count = 0
          WHERE message_id = ?1 AND status = 'Dead' RETURNING seq)sql">,
    .known = both<R"sql(
          SELECT seq, message_id FROM {s}.outbox_messages
          WHERE destination = ?1 AND dedupe_key = ?2
          ORDER BY seq LIMIT 1)sql">,
    .told = both<R"sql(
          DELETE FROM {s}.outbox_ended WHERE seq = ?1
          RETURNING EXISTS (SELECT 1 FROM {s}.outbox_messages
              WHERE seq = ?1 AND status IN ('Dead', 'Expired')))sql">,
    .pause = {.sqlite = R"sql(
          INSERT OR IGNORE INTO outbox_paused (destination, paused_at, reason)
          VALUES (?, ?, ?))sql",
              .postgres = R"sql(
          INSERT INTO {s}.outbox_paused (destination, paused_at, reason)
          VALUES ($1, $2, $3)
          ON CONFLICT DO NOTHING)sql"},
    .resume = both<"DELETE FROM {s}.outbox_paused WHERE destination = ?1">};

}  // namespace posthorn
