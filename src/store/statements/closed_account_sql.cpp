#include "store/statements/closed_account_sql.hpp"

namespace posthorn {

constinit const closed_account_sql closed_account_texts{
    .error_by_seq = {.sqlite = R"sql(
          SELECT CASE WHEN length(destination) <= 800 THEN destination
                  ELSE substr(destination, 1, 200) END,
              CASE WHEN length(endpoint) <= 800 THEN endpoint ELSE substr(endpoint, 1, 200) END,
              substr(last_error, 1, 4096)
          FROM outbox_messages WHERE seq = ?)sql",
                     .postgres = R"sql(
          SELECT CASE WHEN octet_length(destination) <= 800 THEN destination
                  ELSE left(destination, 200) END,
              CASE WHEN octet_length(endpoint) <= 800 THEN endpoint ELSE left(endpoint, 200) END,
              coalesce(substr(last_error, 1, 4096), '')
          FROM {s}.outbox_messages WHERE seq = $1)sql"},
    .find = both<R"sql(
          SELECT cause_id FROM {s}.outbox_causes
          WHERE destination = ?1 AND endpoint = ?2 AND cause = ?3)sql">,
    .count = both<"SELECT count(*) FROM {s}.outbox_causes">,
    .drop_unused = both<"DELETE FROM {s}.outbox_causes WHERE dead <= 0">,
    // On a server another node may add the same one at the same time.
    .add = {.sqlite = R"sql(
          INSERT INTO outbox_causes (destination, endpoint, cause, first_at, last_at)
          VALUES (?1, ?2, ?3, ?4, ?4) RETURNING cause_id)sql",
            .postgres = R"sql(
          INSERT INTO {s}.outbox_causes AS c (destination, endpoint, cause, first_at, last_at)
          VALUES ($1, $2, $3, $4, $4)
          ON CONFLICT (destination, endpoint, cause)
              DO UPDATE SET last_at = greatest(c.last_at, excluded.last_at)
          RETURNING cause_id)sql"},
    .ungrouped = {.sqlite = R"sql(
          SELECT seq, at FROM outbox_closed INDEXED BY idx_outbox_closed_new
          WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?)sql",
                  .postgres = R"sql(
          SELECT seq, at FROM {s}.outbox_closed
          WHERE status = 'Dead' AND cause_id IS NULL ORDER BY seq LIMIT $1)sql"},
    // UPSERT has a bug with indexes in SQLite 3.40.
    .record = {.sqlite = R"sql(
          INSERT OR IGNORE INTO outbox_closed (seq, status, at, cause_id)
          VALUES (?1, ?4, ?2, ?3))sql",
               .postgres = R"sql(
          INSERT INTO {s}.outbox_closed (seq, status, at, cause_id) VALUES ($1, $4, $2, $3)
          ON CONFLICT (seq) DO UPDATE SET at = excluded.at, cause_id = excluded.cause_id)sql"}};

}  // namespace posthorn
