#include "store/statements/old_rows_purge_sql.hpp"

namespace posthorn {

constinit const old_rows_purge_sql old_rows_purge_texts{
    .find =
        {.closed = {.sqlite = R"sql(
          SELECT seq, 1 FROM outbox_closed WHERE status = ?3 AND at < ?1
          ORDER BY at LIMIT ?2)sql",
                    .postgres = R"sql(
          SELECT seq, true FROM {s}.outbox_closed
          WHERE status = $3 AND at < $1
          ORDER BY at, seq LIMIT $2)sql"},
         .received = {.sqlite = R"sql(
          SELECT seq, 1 FROM inbox_messages WHERE expires_at < ?1
          ORDER BY expires_at LIMIT ?2)sql",
                      .postgres = R"sql(
          SELECT seq, true FROM {s}.inbox_messages
          WHERE expires_at < $1
          ORDER BY expires_at, seq LIMIT $2)sql"},
         // In the order of their making, which is that of their times but for a clock that jumped.
         .changes = {.sqlite = R"sql(
          SELECT change_seq, at < ?1 FROM changes WHERE change_seq > -9223372036854775808
          ORDER BY change_seq LIMIT ?2)sql",
                     .postgres = R"sql(
          SELECT change_seq, at < $1 FROM {s}.changes
          ORDER BY change_seq LIMIT $2)sql"},
         .sent = {.sqlite = R"sql(
          SELECT seq, 1 FROM outbox_messages WHERE status = 'Sent' AND sent_at < ?1
          ORDER BY sent_at LIMIT ?2)sql",
                  .postgres = R"sql(
          SELECT seq, status = 'Sent' AND sent_at < $1 FROM {s}.outbox_messages
          WHERE seq > $3
          ORDER BY seq LIMIT $2)sql"}},
    // Triggers take along what belongs to it. What is not as the account says is left alone.
    .remove =
        {.message = {.sqlite = "DELETE FROM outbox_messages WHERE seq = ?",
                     .postgres = "DELETE FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[])"},
         .closed_message = {.sqlite = "DELETE FROM outbox_messages WHERE seq = ?1 AND status = ?2",
                            .postgres = R"sql(
          DELETE FROM {s}.outbox_messages
          WHERE seq = ANY ($1::bigint[]) AND status = $2)sql"},
         .closed = {.sqlite = R"sql(
          DELETE FROM outbox_closed WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM outbox_messages
              WHERE seq = ?1 AND status = outbox_closed.status))sql",
                    .postgres = R"sql(
          DELETE FROM {s}.outbox_closed AS c WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS
              (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = c.seq AND m.status = c.status))sql"},
         .received = {.sqlite = "DELETE FROM inbox_messages WHERE seq = ?",
                      .postgres = "DELETE FROM {s}.inbox_messages WHERE seq = ANY ($1::bigint[])"},
         .changes = {.sqlite = "DELETE FROM changes WHERE change_seq = ?",
                     .postgres = "DELETE FROM {s}.changes WHERE change_seq = ANY ($1::bigint[])"}},
    .shorten = {.sqlite = R"sql(
          UPDATE inbox_messages SET expires_at = found.until + ?1
          FROM (SELECT seq, CASE WHEN few.ahead THEN min(coalesce(processed_at, 0), ?2)
                  ELSE coalesce(processed_at, 0) END AS until
              FROM inbox_messages, (SELECT (SELECT count(*) FROM (SELECT 1 FROM inbox_messages
                      WHERE expires_at > ?2 + ?1 LIMIT 1000))
                  < (SELECT count(*) FROM (SELECT 1 FROM inbox_messages
                      WHERE expires_at BETWEEN ?2 AND ?2 + ?1 LIMIT 1000)) AS ahead) AS few
              WHERE expires_at > ?2 + ?1
                  AND (few.ahead OR coalesce(processed_at, 0) < expires_at - ?1)
              ORDER BY expires_at DESC LIMIT ?3) AS found
          WHERE inbox_messages.seq = found.seq)sql",
                .postgres = R"sql(
          UPDATE {s}.inbox_messages SET expires_at = found.until + $1::bigint
          FROM (SELECT seq, CASE WHEN few.ahead THEN least(coalesce(processed_at, 0), $2::bigint)
                  ELSE coalesce(processed_at, 0) END AS until
              FROM {s}.inbox_messages, (SELECT (SELECT count(*) FROM (SELECT 1
                      FROM {s}.inbox_messages WHERE expires_at > $2::bigint + $1::bigint
                      LIMIT 1000) AS later)
                  < (SELECT count(*) FROM (SELECT 1 FROM {s}.inbox_messages
                      WHERE expires_at BETWEEN $2::bigint AND $2::bigint + $1::bigint
                      LIMIT 1000) AS usual) AS ahead) AS few
              WHERE expires_at > $2::bigint + $1::bigint
                  AND (few.ahead OR coalesce(processed_at, 0) < expires_at - $1::bigint)
              ORDER BY expires_at DESC LIMIT $3) AS found
          WHERE inbox_messages.seq = found.seq)sql"}};

}  // namespace posthorn
